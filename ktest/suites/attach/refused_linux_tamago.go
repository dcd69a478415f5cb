//go:build tamago && !nolinux

package attach

import (
	"sync/atomic"

	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/probe/attach"
	"sonde/uprobes"
)

func init() { suites.Add("attach/refused_links_leave_hits_in_the_trap", refusedLeavesTraps) }

// endless is a program that hits the first of its two instructions for ever: nop; jmp back.
var endless = []byte{0x90, 0xeb, 0xfd}

// refusedLeavesTraps: a link that has its probes of each kind already, and is refused for its last place, leaves nothing
// that is told of a program's exceptions, or is watched: either would lead hits of programs to their goroutines.
func refusedLeavesTraps(t *suites.T) {
	t.NeedPrograms()
	t.OneProcessor()
	const path = "/tmp/endless"
	suites.WriteProgram(t, path, endless)
	defer vfs.Remove(path)
	var trapped, outside atomic.Int64
	count := func(*attach.Hit) {
		if cpu.InHandler() {
			trapped.Add(1)
		} else {
			outside.Add(1)
		}
	}
	var l *attach.Link
	p := suites.StartProgram(t, path, func(p *proc.Process) {
		l = attachTo(t, count, nil, attach.Site{Kind: attach.Program, PID: p.PID, Addr: suites.ProgramAt}.String())
	})
	defer suites.WaitProgram(t, p)
	defer p.Kill(9)
	defer l.Close()
	t.Until("hits in trap context", func() bool { return trapped.Load() > 10 })
	as, user := asItWas(t), len(uprobes.All())
	more := func(what string) {
		n := trapped.Load() + outside.Load()
		t.Until(what, func() bool { return trapped.Load()+outside.Load() > n+1000 })
	}
	in := func(s attach.Site) string { s.PID = p.PID; return s.String() }
	for _, begun := range []string{
		pkg + "square", "ret:" + pkg + "square", "inline:sync.(*Mutex).Lock", "w@" + pkg + "watched", "x@" + pkg + "squareToo", "tick:100hz", "every:1s",
		"/bin/cat:syscall.write", "ret:/bin/cat:syscall.read", "sys:write", "ret:sys:read", "event:sched:sched_switch",
		in(attach.Site{Kind: attach.Program, Addr: suites.ProgramAt + 1}), in(attach.Site{Kind: attach.Program, Return: true, Addr: suites.ProgramAt + 1}),
		in(attach.Site{Kind: attach.Watch, Addr: suites.ProgramData, Length: 8}), in(attach.Site{Kind: attach.Call, Symbol: "write"}),
	} {
		for _, refused := range []string{pkg + "square+0x1", "w@no.such", "/bin/cat:no.such", "sys:nothing", "event:go:none", "7777:sys:read", "/bin/none:f",
			in(attach.Site{Kind: attach.Program, Addr: 0x10000}), in(attach.Site{Kind: attach.Watch, Addr: 0x10000, Length: 8})} {
			other, err := attach.AttachTo(count, nil, begun, refused)
			if err == nil {
				other.Close()
				t.Fatalf("%s and %s: attached", begun, refused)
			}
		}
		more("hits") // the CPUs have left what is not watched any more
		out := outside.Load()
		more("more of them")
		if outside.Load() != out || len(uprobes.All()) != user {
			t.Errorf("after %s was refused, %d hits come in the goroutine; %d probes of programs, %d before", begun, outside.Load()-out, len(uprobes.All()), user)
		}
	}
	as()
}
