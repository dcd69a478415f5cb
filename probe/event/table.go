package event

// Kinds of fields. Their types are those that tools know without a header: pid_t and u64 are none of these.
func text(name string) Field  { return Field{Name: name, Type: "char", Size: 16, Text: true} }
func loc(name string) Field   { return Field{Name: name, Type: "char[]", Size: 4, Loc: true} }
func pid(name string) Field   { return Field{Name: name, Type: "int", Size: 4, Signed: true} }
func int4(name string) Field  { return Field{Name: name, Type: "int", Size: 4, Signed: true} }
func long(name string) Field  { return Field{Name: name, Type: "long", Size: 8, Signed: true} }
func ulong(name string) Field { return Field{Name: name, Type: "unsigned long", Size: 8} }
func u64(name string) Field   { return Field{Name: name, Type: "unsigned long", Size: 8} }

// events are the tracepoints. Those without a place are of programs: see Place. Fields have Linux's names where Linux has them; a goroutine's number is in a
// field of ours after those.
//
// Source: Linux, include/trace/events, for the fields and their order.
var events = []*Event{
	{System: "sched", Name: "sched_switch", places: []string{"runtime.dropg", "runtime.execute"}, fill: fillSwitch, Fields: []Field{
		text("prev_comm"), pid("prev_pid"), int4("prev_prio"), long("prev_state"), text("next_comm"), pid("next_pid"), int4("next_prio"), u64("prev_goid"), u64("next_goid")}},
	{System: "sched", Name: "sched_wakeup", places: []string{"runtime.ready"}, fill: fillWakeup, Fields: []Field{
		text("comm"), pid("pid"), int4("prio"), int4("target_cpu"), u64("goid")}},
	{System: "sched", Name: "sched_wakeup_new", places: []string{"ret:runtime.newproc1"}, fill: fillWakeup, Fields: []Field{
		text("comm"), pid("pid"), int4("prio"), int4("target_cpu"), u64("goid")}},
	{System: "sched", Name: "sched_process_fork", fill: fillFork, Fields: []Field{
		text("parent_comm"), pid("parent_pid"), text("child_comm"), pid("child_pid")}},
	{System: "sched", Name: "sched_process_exec", fill: fillExec, Fields: []Field{
		loc("filename"), pid("pid"), pid("old_pid")}},
	{System: "sched", Name: "sched_process_exit", fill: fillExit, Fields: []Field{
		text("comm"), pid("pid"), int4("prio")}},
	{System: "sched", Name: "sched_stat_runtime", places: []string{"runtime.dropg", "runtime.execute"}, fill: fillRuntime, Fields: []Field{
		text("comm"), pid("pid"), u64("runtime"), u64("goid")}},
	{System: "signal", Name: "signal_generate", fill: fillGenerate, Fields: []Field{
		int4("sig"), int4("errno"), int4("code"), text("comm"), pid("pid"), int4("group"), int4("result")}},
	{System: "signal", Name: "signal_deliver", fill: fillDeliver, Fields: []Field{
		int4("sig"), int4("errno"), int4("code"), ulong("sa_handler"), ulong("sa_flags")}},
	{System: "irq", Name: "irq_handler_entry", places: interrupts, fill: fillIRQ, Fields: []Field{int4("irq"), loc("name")}},
	{System: "irq", Name: "irq_handler_exit", places: returned(interrupts), fill: fillIRQ, Fields: []Field{int4("irq"), int4("ret")}},
	{System: "kmem", Name: "mm_page_alloc", places: []string{"ret:sonde/kernel/mm/frame.(*Pool).AllocDirty"}, fill: fillPage, Fields: []Field{
		ulong("pfn"), {Name: "order", Type: "unsigned int", Size: 4}, ulong("gfp_flags"), int4("migratetype")}},
	{System: "go", Name: "goroutine_create", places: []string{"ret:runtime.newproc1"}, fill: fillCreate, Fields: []Field{u64("goid"), u64("parent")}},
	{System: "go", Name: "goroutine_exit", places: []string{"runtime.goexit0"}, fill: fillGoroutine, Fields: []Field{u64("goid")}},
	{System: "go", Name: "park", places: []string{"runtime.park_m"}, fill: fillPark, Fields: []Field{u64("goid"), loc("reason")}},
	{System: "go", Name: "ready", places: []string{"runtime.ready"}, fill: fillCreate, Fields: []Field{u64("goid"), u64("by")}},
	{System: "go", Name: "gc_start", places: []string{"runtime.(*gcControllerState).startCycle"}, fill: fillGC, Fields: []Field{u64("num")}},
	{System: "go", Name: "gc_mark_done", places: []string{"runtime.gcMarkTermination"}, fill: fillGC, Fields: []Field{u64("num")}},
	{System: "go", Name: "gc_end", places: []string{"ret:runtime.gcMarkTermination"}, fill: fillGC, Fields: []Field{u64("num")}},
	{System: "go", Name: "stack_grow", places: []string{"runtime.copystack"}, fill: fillStack, Fields: []Field{u64("goid"), u64("old_size"), u64("new_size")}},
	{System: "go", Name: "mallocgc", places: []string{"runtime.mallocgc"}, fill: fillMalloc, Fields: []Field{u64("size"), u64("type")}},
	{System: "exceptions", Name: "page_fault_user", fill: fillUserFault, Fields: []Field{ulong("address"), ulong("ip"), ulong("error_code")}},
	{System: "exceptions", Name: "page_fault_kernel", fill: fillKernelFault, Fields: []Field{ulong("address"), ulong("ip"), ulong("error_code")}},
}

// interrupts are the functions that handle interrupts: of devices, of the timer, and to be woken.
var interrupts = []string{"sonde/kernel/irq.device", "sonde/kernel/irq.timer", "sonde/kernel/irq.wake"}

func returned(places []string) (all []string) {
	for _, p := range places {
		all = append(all, "ret:"+p)
	}
	return all
}
