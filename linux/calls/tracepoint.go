package calls

import (
	"fmt"
	"strings"
	"sync"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
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
	hit.Data[0], hit.Data[1] = t.ID, numbers()[h.Place.Where[strings.LastIndexByte(h.Place.Where, ':')+1:]]
	if t.Exit {
		hit.Data[2] = r.AX
	} else {
		copy(hit.Data[2:], []uint64{r.DI, r.SI, r.DX, r.R10, r.R8, r.R9})
	}
	program(&hit)
	return true
}

// Format is what the file format says.
//
// Source: Linux, Documentation/trace/events.rst, and its kernel/trace/trace_syscalls.c for the offsets.
func (t Tracepoint) Format() string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nID: %d\nformat:\n", t, t.ID)
	field := func(declared string, offset, size, signed int) {
		fmt.Fprintf(&b, "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", declared, offset, size, signed)
	}
	field("unsigned short common_type", 0, 2, 0)
	field("unsigned char common_flags", 2, 1, 0)
	field("unsigned char common_preempt_count", 3, 1, 0)
	field("int common_pid", 4, 4, 1)
	b.WriteByte('\n')
	raw := t.Call == "*"
	if raw {
		field("long id", 8, 8, 1)
	} else {
		field("int __syscall_nr", 8, 4, 1)
	}
	switch {
	case t.Exit:
		field("long ret", 16, 8, 1)
	case raw:
		field("unsigned long args[6]", 16, 48, 0)
	default:
		params, _ := Parameters(t.Call)
		for i, p := range params {
			field(p.Type+" "+p.Name, 16+8*i, 8, 0)
		}
	}
	fmt.Fprintf(&b, "\nprint fmt: %s\n", t.printed())
	return b.String()
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

// MountTracepoints registers the tracepoints of programs, and makes the files of calls' in tracefs. It comes
// before event.Mount.
//
// Errors: those of event.Bind.
func MountTracepoints(tree *vfs.FS) error {
	event.Register(event.Family{First: rawEnter, List: listed, ByID: func(id uint64) (event.Source, error) {
		t, err := ByID(id)
		return event.Source{Sites: []attach.Site{t.Site()}, Through: t.Record}, err
	}})
	for name, function := range placed {
		event.Place(name, "sonde/linux/proc."+function)
	}
	err := event.Bind(tree, "events/syscalls", folder("syscalls"))
	if err == nil {
		err = event.Bind(tree, "events/raw_syscalls", folder("raw_syscalls"))
	}
	return err
}

// placed are the functions of package proc whose calls are tracepoints.
var placed = map[string]string{
	"sched:sched_process_fork": "(*Thread).release", "sched:sched_process_exec": "(*Thread).tellExec", "sched:sched_process_exit": "(*Thread).end",
	"signal:signal_generate": "(*Process).queue", "signal:signal_deliver": "(*Thread).deliver",
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

// folder has a folder for each tracepoint of a system.
func folder(system string) vfs.Node {
	return ctl.Dir{
		List: func() (names []string) {
			for _, name := range listed() {
				if rest, ok := strings.CutPrefix(name, system+":"); ok {
					names = append(names, rest)
				}
			}
			return names
		},
		Node: func(name string) vfs.Node {
			t, ok := ByName(system, name)
			if !ok {
				return nil
			}
			files := map[string]vfs.Node{"id": ctl.Text(func() string { return fmt.Sprintf("%d\n", t.ID) }), "format": ctl.Text(t.Format)}
			return ctl.Dir{List: func() []string { return []string{"format", "id"} }, Node: func(name string) vfs.Node { return files[name] }}
		},
	}
}
