package verify

import (
	"slices"

	"sonde/bpf"
)

// NewEnv returns what programs find in the kernel: the contexts of all types, and all helpers.
func NewEnv() *Env {
	env := &Env{Contexts: map[bpf.Type]*Context{}, Helpers: map[int32]*Helper{}}
	for t, fields := range contexts {
		env.Contexts[t] = &Context{Name: t.String(), Fields: fields}
	}
	for i := range helpers {
		h := helpers[i].Helper
		env.Helpers[helpers[i].number] = &h
	}
	for i, h := range ours {
		env.Helpers[bpf.HelperGoid+int32(i)] = &h
	}
	return env
}

const (
	sizeOfRegs    = 21 * 8
	sizeOfRawArgs = 12 * 8
	sizeOfPacket  = 192
)

// contexts are laid out as in Linux. The first word of a tracepoint's record is not for programs.
var contexts = map[bpf.Type][]Field{
	bpf.Kprobe:        {{0, sizeOfRegs, allWidths}},
	bpf.Tracepoint:    {{8, bpf.RecordSize - 8, allWidths}},
	bpf.RawTracepoint: {{0, sizeOfRawArgs, allWidths}},
	bpf.PerfEvent:     {{0, sizeOfRegs, 8}, {sizeOfRegs, 16, allWidths}},
	bpf.SocketFilter:  {{0, sizeOfPacket, 4}},
}

var (
	walked  = []bpf.MapType{bpf.Hash, bpf.Array, bpf.PerCPUHash, bpf.PerCPUArray, bpf.LRUHash, bpf.LRUPerCPUHash}
	keyed   = slices.Concat(walked, []bpf.MapType{bpf.LPMTrie})
	found   = slices.Concat(keyed, []bpf.MapType{bpf.ArrayOfMaps, bpf.HashOfMaps})
	deleted = slices.Concat(keyed, []bpf.MapType{bpf.StackTrace})
	perCPU  = []bpf.MapType{bpf.PerCPUHash, bpf.PerCPUArray, bpf.LRUPerCPUHash}
	queues  = []bpf.MapType{bpf.Queue, bpf.Stack}
	rings   = []bpf.MapType{bpf.RingBuf}
	stacks  = []bpf.MapType{bpf.StackTrace}
	events  = []bpf.MapType{bpf.PerfEventArray}
	progs   = []bpf.MapType{bpf.ProgArray}
)

// Programs for helpers that tell of the hit: a filter has none, and a function's arguments are where it is called.
var (
	hits      = []bpf.Type{bpf.Kprobe, bpf.Tracepoint, bpf.PerfEvent, bpf.RawTracepoint, bpf.Tracing}
	places    = []bpf.Type{bpf.Kprobe, bpf.Tracepoint, bpf.PerfEvent, bpf.Tracing}
	functions = []bpf.Type{bpf.Kprobe, bpf.Tracing}
)

// helpers are Linux's, by its numbers. Weights are bounds on instructions: of a search in a map
// 64 places are probed at most, a lock of a key is tried 256 times, a stack is walked for 127 frames at
// most.
var helpers = [...]struct {
	number int32
	Helper
}{
	{1, Helper{Name: "bpf_map_lookup_elem", Args: [5]ArgKind{MapArg, Key}, Result: ValueOrNull, Weight: 900, PerWord: 450, Maps: found}},
	{2, Helper{Name: "bpf_map_update_elem", Args: [5]ArgKind{MapArg, Key, Value, Number}, Result: ErrorCode, Weight: 4600, PerWord: 850, Changes: true, Maps: keyed}},
	{3, Helper{Name: "bpf_map_delete_elem", Args: [5]ArgKind{MapArg, Key}, Result: ErrorCode, Weight: 2000, PerWord: 450, Changes: true, Maps: deleted}},
	{4, Helper{Name: "bpf_probe_read", Args: [5]ArgKind{MemoryOut, SizeOrZero, KernelOrNumber}, Result: ErrorCode, Weight: 200, PerWord: 6, Types: hits}},
	{5, Helper{Name: "bpf_ktime_get_ns", Weight: 40}},
	{6, Helper{Name: "bpf_trace_printk", Args: [5]ArgKind{Memory, Size}, Weight: 1500, PerWord: 400}},
	{7, Helper{Name: "bpf_get_prandom_u32", Weight: 30}},
	{8, Helper{Name: "bpf_get_smp_processor_id", Result: Cpu, Weight: 5}},
	{12, Helper{Name: "bpf_tail_call", Args: [5]ArgKind{ContextArg, MapArg, Number}, Result: Nothing, Weight: 40, Maps: progs}},
	{14, Helper{Name: "bpf_get_current_pid_tgid", Weight: 40, Types: hits}},
	{15, Helper{Name: "bpf_get_current_uid_gid", Weight: 40, Types: hits}},
	{16, Helper{Name: "bpf_get_current_comm", Args: [5]ArgKind{MemoryOut, Size}, Result: ErrorCode, Weight: 100, PerWord: 70, Types: hits}},
	{25, Helper{Name: "bpf_perf_event_output", Args: [5]ArgKind{ContextArg, MapArg, Number, Memory, SizeOrZero}, Result: ErrorCode, Weight: 400, PerWord: 2, Maps: events}},
	{27, Helper{Name: "bpf_get_stackid", Args: [5]ArgKind{ContextArg, MapArg, Number}, Weight: 4000, Maps: stacks, Types: hits}},
	{35, Helper{Name: "bpf_get_current_task", Weight: 20}},
	{45, Helper{Name: "bpf_probe_read_str", Args: [5]ArgKind{MemoryOut, SizeOrZero, KernelOrNumber}, Result: SizeOrError, Weight: 200, PerWord: 16, Types: hits}},
	{67, Helper{Name: "bpf_get_stack", Args: [5]ArgKind{ContextArg, MemoryOut, SizeOrZero, Number}, Result: SizeOrError, Weight: 4000, PerWord: 4, Types: hits}},
	{80, Helper{Name: "bpf_get_current_cgroup_id", Weight: 5, Types: hits}},
	{87, Helper{Name: "bpf_map_push_elem", Args: [5]ArgKind{MapArg, Value, Number}, Result: ErrorCode, Weight: 1600, Changes: true, Maps: queues}},
	{88, Helper{Name: "bpf_map_pop_elem", Args: [5]ArgKind{MapArg, ValueOut}, Result: ErrorCode, Weight: 1600, Changes: true, Maps: queues}},
	{89, Helper{Name: "bpf_map_peek_elem", Args: [5]ArgKind{MapArg, ValueOut}, Result: ErrorCode, Weight: 1600, Maps: queues}},
	{109, Helper{Name: "bpf_send_signal", Args: [5]ArgKind{Number}, Result: ErrorCode, Weight: 100, Unsafe: true, Types: hits}},
	{112, Helper{Name: "bpf_probe_read_user", Args: [5]ArgKind{MemoryOut, SizeOrZero, KernelOrNumber}, Result: ErrorCode, Weight: 300, PerWord: 4}},
	{113, Helper{Name: "bpf_probe_read_kernel", Args: [5]ArgKind{MemoryOut, SizeOrZero, KernelOrNumber}, Result: ErrorCode, Weight: 200, PerWord: 6}},
	{114, Helper{Name: "bpf_probe_read_user_str", Args: [5]ArgKind{MemoryOut, SizeOrZero, KernelOrNumber}, Result: SizeOrError, Weight: 300, PerWord: 16}},
	{115, Helper{Name: "bpf_probe_read_kernel_str", Args: [5]ArgKind{MemoryOut, SizeOrZero, KernelOrNumber}, Result: SizeOrError, Weight: 200, PerWord: 16}},
	{118, Helper{Name: "bpf_jiffies64", Weight: 5}},
	{125, Helper{Name: "bpf_ktime_get_boot_ns", Weight: 40}},
	{130, Helper{Name: "bpf_ringbuf_output", Args: [5]ArgKind{MapArg, Memory, SizeOrZero, Number}, Result: ErrorCode, Weight: 200, PerWord: 6, Maps: rings}},
	{131, Helper{Name: "bpf_ringbuf_reserve", Args: [5]ArgKind{MapArg, KnownSize, Number}, Result: RecordOrNull, Weight: 100, Maps: rings}},
	{132, Helper{Name: "bpf_ringbuf_submit", Args: [5]ArgKind{Record, Number}, Weight: 60}},
	{133, Helper{Name: "bpf_ringbuf_discard", Args: [5]ArgKind{Record, Number}, Weight: 60}},
	{134, Helper{Name: "bpf_ringbuf_query", Args: [5]ArgKind{MapArg, Number}, Weight: 40, Maps: rings}},
	{158, Helper{Name: "bpf_get_current_task_btf", Result: KernelPointer, Weight: 20}},
	{160, Helper{Name: "bpf_ktime_get_coarse_ns", Weight: 40}},
	{173, Helper{Name: "bpf_get_func_ip", Args: [5]ArgKind{ContextArg}, Weight: 10, Types: places}},
	{174, Helper{Name: "bpf_get_attach_cookie", Args: [5]ArgKind{ContextArg}, Weight: 20, Types: places}},
	{183, Helper{Name: "bpf_get_func_arg", Args: [5]ArgKind{ContextArg, Number, WordOut}, Result: ErrorCode, Weight: 40, Types: functions}},
	{184, Helper{Name: "bpf_get_func_ret", Args: [5]ArgKind{ContextArg, WordOut}, Result: ErrorCode, Weight: 20, Types: functions}},
	{185, Helper{Name: "bpf_get_func_arg_cnt", Args: [5]ArgKind{ContextArg}, Weight: 150, Types: functions}},
	{164, Helper{Name: "bpf_for_each_map_elem", Args: [5]ArgKind{MapArg, Callback, StackOrNull, Number}, Weight: 100, Maps: walked}},
	{165, Helper{Name: "bpf_snprintf", Args: [5]ArgKind{MemoryOutNull, SizeOrZero, String, MemoryOrNull, SizeOrZero}, Weight: 1500, PerWord: 400}},
	{177, Helper{Name: "bpf_trace_vprintk", Args: [5]ArgKind{Memory, Size, MemoryOrNull, SizeOrZero}, Weight: 1500, PerWord: 400}},
	{181, Helper{Name: "bpf_loop", Args: [5]ArgKind{Count, Callback, StackOrNull, Number}, Weight: 50}},
	{182, Helper{Name: "bpf_strncmp", Args: [5]ArgKind{Memory, Size, String}, Result: AnyNumber, Weight: 50, PerWord: 40}},
	{195, Helper{Name: "bpf_map_lookup_percpu_elem", Args: [5]ArgKind{MapArg, Key, Number}, Result: ValueOrNull, Weight: 300, PerWord: 70, Maps: perCPU}},
}

// absent are helpers of Linux that a kernel may leave out of its Env for a reason: their names, and that.
var absent = map[int32][2]string{
	36:  {"bpf_probe_write_user", "no program writes to the memory of processes"},
	58:  {"bpf_override_return", "no program ends the function that was hit, nor changes what it returns"},
	158: {"bpf_get_current_task_btf", "no program reads through kernel pointers: bpf_get_current_task#35 returns the address, and bpf_probe_read_kernel#113 reads there"},
}
