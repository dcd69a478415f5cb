package calls

import (
	"strings"
	"sync"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
	linux "sonde/linux/syscall"
	"sonde/probe/attach"
	"sonde/probe/event"
)

// System calls as Linux's tracepoints: syscalls:sys_enter_openat, raw_syscalls:sys_exit. They have numbers, and
// records in which fields lie where the file format says.

// Numbers of tracepoints: of raw_syscalls, then of each call, by its number. Kernel tracepoints have lower ones.
const (
	rawEnter  = 1000
	rawExit   = 1001
	firstCall = 1002
)

// numbers are those of calls, by name.
var numbers = sync.OnceValue(func() map[string]uint64 {
	all := map[string]uint64{}
	for n := range linux.Numbers {
		if name := linux.Name(n); name != "" {
			all[name] = n
		}
	}
	return all
})

// A Tracepoint is the entry or the return of a system call, or of all.
type Tracepoint struct {
	ID   uint64
	Call string // "*": all
	Exit bool
}

// ByID returns a tracepoint.
//
// Errors: ENOENT.
func ByID(id uint64) (t Tracepoint, err error) {
	t = Tracepoint{ID: id, Call: "*", Exit: id&1 == rawExit&1}
	if id >= firstCall {
		t.Call = linux.Name((id - firstCall) / 2)
	}
	if id < rawEnter || t.Call == "" {
		return t, refusal.New(syscall.ENOENT, "there is no tracepoint %d", id)
	}
	return t, nil
}

// ByName returns a tracepoint of a system, raw_syscalls or syscalls.
func ByName(system, name string) (t Tracepoint, ok bool) {
	call, enter := strings.CutPrefix(name, "sys_enter")
	if !enter {
		call, t.Exit = strings.CutPrefix(name, "sys_exit")
	}
	if t.ID = rawEnter; t.Exit {
		t.ID = rawExit
	}
	t.Call = "*"
	if system == "syscalls" {
		t.Call = Called(strings.TrimPrefix(call, "_"))
		n, known := numbers()[t.Call]
		t.ID += firstCall - rawEnter + 2*n
		return t, known && strings.HasPrefix(call, "_") && (enter || t.Exit)
	}
	return t, system == "raw_syscalls" && call == "" && (enter || t.Exit)
}

// others are calls whose tracepoints have another name in Linux than the calls.
var others = map[string]string{"newstat": "stat", "newlstat": "lstat", "newfstat": "fstat", "newuname": "uname", "sendfile64": "sendfile"}

// Called is a call's name, and TracedAs that of its tracepoints.
func Called(traced string) string {
	if name := others[traced]; name != "" {
		return name
	}
	return traced
}

func TracedAs(call string) string {
	for traced, name := range others {
		if name == call {
			return traced
		}
	}
	return call
}

// String is the tracepoint's name without its system.
func (t Tracepoint) String() string {
	name := "sys_enter"
	if t.Exit {
		name = "sys_exit"
	}
	if t.Call != "*" {
		name += "_" + TracedAs(t.Call)
	}
	return name
}

// Site is where it is.
func (t Tracepoint) Site() attach.Site {
	return attach.Site{Kind: attach.Call, Symbol: t.Call, Return: t.Exit}
}

// Record calls a program with the record of a hit in Data: what kind of record, the call's number, and its
// arguments or its result.
//
// Context: the thread's goroutine.
func (t Tracepoint) Record(h *attach.Hit, program attach.Handler) bool {
	r := h.Regs
	hit := *h
	hit.Data = make([]uint64, bpf.RecordSize/8)
	hit.Data[0], hit.Data[1] = t.ID, h.Place.Addr
	if t.Exit {
		hit.Data[2] = r.AX
	} else {
		copy(hit.Data[2:], []uint64{r.DI, r.SI, r.DX, r.R10, r.R8, r.R9})
	}
	program(&hit)
	return true
}

// fields are those of a record beyond those that all have.
//
// Source: Linux, Documentation/trace/events.rst, and its kernel/trace/trace_syscalls.c for the offsets.
func (t Tracepoint) fields() (all []event.Field) {
	raw := t.Call == "*"
	if raw {
		all = append(all, event.Field{Name: "id", Type: "long", Offset: 8, Size: 8, Signed: true})
	} else {
		all = append(all, event.Field{Name: "__syscall_nr", Type: "int", Offset: 8, Size: 4, Signed: true})
	}
	switch {
	case t.Exit:
		return append(all, event.Field{Name: "ret", Type: "long", Offset: 16, Size: 8, Signed: true})
	case raw:
		return append(all, event.Field{Name: "args", Type: "unsigned long", Offset: 16, Size: 48, Count: 6})
	}
	params, _ := Parameters(t.Call)
	for i, p := range params {
		all = append(all, event.Field{Name: p.Name, Type: p.Type, Offset: 16 + 8*i, Size: 8})
	}
	return all
}

// printed is how Linux prints a record: a format of C, and its arguments.
func (t Tracepoint) printed() string {
	switch {
	case t.Call == "*" && t.Exit:
		return `"NR %ld = %ld", REC->id, REC->ret`
	case t.Call == "*":
		return `"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)", REC->id, REC->args[0], REC->args[1], REC->args[2], REC->args[3], REC->args[4], REC->args[5]`
	case t.Exit:
		return `"0x%lx", REC->ret`
	}
	var format, values []string
	params, _ := Parameters(t.Call)
	for _, p := range params {
		format = append(format, p.Name+": 0x%08lx")
		values = append(values, ", ((unsigned long)(REC->"+p.Name+"))")
	}
	return `"` + strings.Join(format, ", ") + `"` + strings.Join(values, "")
}

// RegisterTracepoints makes the tracepoints of programs known.
//
// Context: boot.
func RegisterTracepoints() {
	event.Register(event.Family{First: rawEnter, List: listed, ByName: numbered, ByID: func(id uint64) (event.Source, error) {
		t, err := ByID(id)
		if err != nil {
			return event.Source{}, err
		}
		fields := t.fields()
		last := fields[len(fields)-1]
		return event.Source{Name: t.system() + ":" + t.String(), Fields: fields, Print: t.printed(), Size: (last.Offset + last.Size + 7) / 8 * 8,
			Sites: []attach.Site{t.Site()}, Through: t.Record}, nil
	}})
	for name, function := range placed {
		event.Place(name, "sonde/linux/"+function)
	}
}

func numbered(name string) (id uint64, ok bool) {
	system, rest, _ := strings.Cut(name, ":")
	t, ok := ByName(system, rest)
	return t.ID, ok
}

func (t Tracepoint) system() string {
	if t.Call == "*" {
		return "raw_syscalls"
	}
	return "syscalls"
}

// placed are the functions of linux/ whose calls are tracepoints.
var placed = map[string]string{
	"sched:sched_process_fork": "proc.(*Thread).release", "sched:sched_process_exec": "proc.(*Thread).tellExec", "sched:sched_process_exit": "proc.(*Thread).end",
	"signal:signal_generate": "proc.(*Process).queue", "signal:signal_deliver": "proc.(*Thread).deliver",
	"exceptions:page_fault_user": "proc.(*Thread).pageFault", "exceptions:page_fault_kernel": "space.(*Space).faultIn",
}

// listed are all, as available_events has them.
func listed() (all []string) {
	all = append(all, "raw_syscalls:sys_enter", "raw_syscalls:sys_exit")
	for n := range linux.Numbers {
		if c, ok := linux.Lookup(n); ok {
			all = append(all, "syscalls:sys_enter_"+TracedAs(c.Name), "syscalls:sys_exit_"+TracedAs(c.Name))
		}
	}
	return all
}
