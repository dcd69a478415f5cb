//go:build tamago && !nolinux

package attach

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/probe/attach"
	"sonde/uprobes"
)

func init() {
	suites.Add("attach/system_calls_and_functions_of_programs", callsAndFunctions)
	suites.Add("attach/handlers_that_block_and_that_do_not", blockInPrograms)
	for _, block := range []bool{true, false} {
		name := map[bool]string{true: "", false: "_in_trap"}[block]
		suites.Add("attach/data_of_calls_of_programs"+name, func(t *suites.T) { dataInPrograms(t, block) })
		suites.Add("attach/active_calls_of_programs"+name, func(t *suites.T) { activeInPrograms(t, block) })
	}
	suites.Add("attach/data_in_the_kernel_and_in_programs", dataEverywhere)
	suites.Add("attach/data_of_calls_of_programs_refused", dataRefused)
	suites.Add("attach/functions_of_a_program_by_pattern", programPattern)
	suites.Add("attach/watchpoint_in_a_program", watchProgram)
	suites.Add("attach/places_in_programs_refused", programsRefused)
}

// cat runs a program that writes once.
const cat = "/bin/cat /proc/uptime > /dev/null"

// run runs a line of the shell.
func run(t *suites.T, line string) {
	t.NeedPrograms()
	if status := suites.Script(io.Discard, line); status != 0 {
		t.Errorf("%s: status %d", line, status)
	}
}

// callsAndFunctions: what a program's function does is a system call, and that is a call in the kernel.
func callsAndFunctions(t *suites.T) {
	var blocks, returns atomic.Int64
	l := attachTo(t, func(h *attach.Hit) {
		if h.MayBlock {
			blocks.Add(1)
		}
		if h.Returns {
			returns.Add(1)
		}
	}, nil, "sys:write", "cat:syscall.write", "ret:/bin/cat:syscall.write", "ret:sys:write", "sonde/linux/syscall.write")
	for range 5 {
		run(t, cat)
	}
	l.Close()
	run(t, cat)
	for _, p := range l.Places() {
		if p.Ledger.Handled != 5 || p.Ledger.Unexplained() != 0 {
			t.Errorf("%s: %+v", p.Where, p.Ledger)
		}
	}
	if blocks.Load() != 10 || returns.Load() != 10 {
		t.Errorf("%d hits in goroutines, %d returns", blocks.Load(), returns.Load())
	}
}

// blockInPrograms: a handler that may block does, in the thread that it hit; one that may not is called
// where the breakpoint arrives.
func blockInPrograms(t *suites.T) {
	run(t, "true")
	for _, block := range []bool{true, false} {
		var hits, wrong atomic.Int64
		l := attachTo(t, func(h *attach.Hit) {
			if h.MayBlock != block {
				wrong.Add(1)
			} else if block {
				time.Sleep(time.Millisecond)
			}
			if h.CPU() >= cpu.Num() || h.Time() == 0 || (h.Goid() != 0) != block {
				wrong.Add(1)
			}
			hits.Add(1)
		}, &attach.Options{Block: block}, "/bin/cat:syscall.write", "ret:/bin/cat:syscall.write")
		run(t, cat)
		l.Close()
		expect(t, l, 2, 2)
		if hits.Load() != 2 || wrong.Load() != 0 {
			t.Errorf("may block %v: %d hits, %d wrong", block, hits.Load(), wrong.Load())
		}
	}
	since := suites.Mark()
	l := attachTo(t, allocate, nil, "/bin/sh:syscall.write") // a thread's first hit is its goroutine's
	run(t, `/bin/sh -c "for i in 1 2 3 4 5 6 7 8; do echo x; done" > /dev/null`)
	l.Close()
	if got := l.Ledger(); got.Abandoned != 1 || got.Unexplained() != 0 || suites.Logged(since, "allocates memory") != 1 {
		t.Errorf("one that allocates in the trap: %+v, %d reports", got, suites.Logged(since, "allocates memory"))
	}
}

// recursive is a program that calls itself 20 deep, 50 times.
var recursive = []byte{
	0x41, 0xbc, 50, 0, 0, 0, // mov r12d, 50
	0xe8, 14, 0, 0, 0, // call f
	0x41, 0xff, 0xcc, // dec r12d
	0x75, 0xf6, // jnz back
	0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05, // exit(0)
	0x90, 0x41, 0xff, 0xc5, 0x41, 0x83, 0xfd, 20, // f: nop; inc r13d; cmp r13d, 20
	0x74, 5, 0xe8, 0xf1, 0xff, 0xff, 0xff, // jz over it; call f
	0x41, 0xff, 0xcd, 0xc3, // dec r13d; ret
}

// runRecursive runs it with a link at the returns of f.
func runRecursive(t *suites.T, f attach.Handler, o *attach.Options) (l *attach.Link) {
	run(t, "true")
	const path = "/tmp/recursive"
	suites.WriteProgram(t, path, recursive)
	defer vfs.Remove(path)
	p := suites.StartProgram(t, path, func(p *proc.Process) {
		l = attachTo(t, f, o, attach.Site{Kind: attach.Program, Return: true, PID: p.PID, Addr: suites.ProgramAt + 25}.String())
	})
	if s := suites.WaitProgram(t, p); s != 0 {
		t.Errorf("exit %d, signal %d", s.Code(), s.Signal())
	}
	l.Close()
	return l
}

// dataInPrograms: each call has its own data, at any depth; of an odd depth it is not wanted.
func dataInPrograms(t *suites.T, block bool) {
	var wrong atomic.Int64
	l := runRecursive(t, func(h *attach.Hit) {
		if len(h.Data) != 2 || h.Data[0] != h.Regs.R13 || h.Data[1] != h.Regs.SP-8 || h.MayBlock != block || !h.Returns || h.Data[0]%2 == 1 {
			wrong.Add(1)
		}
	}, &attach.Options{Block: block, Data: 2, Entry: func(h *attach.Hit) bool {
		if h.Data[0]|h.Data[1] != 0 || h.MayBlock != block || h.Returns || h.IP != suites.ProgramAt+25 {
			wrong.Add(1)
		}
		h.Data[0], h.Data[1] = h.Regs.R13, h.Regs.SP
		return h.Regs.R13%2 == 0
	}})
	if got := l.Ledger(); got.Entered != 1000 || got.Handled != 500 || got.Declined != 500 || got.Unexplained() != 0 || wrong.Load() != 0 {
		t.Errorf("%+v, %d wrong", got, wrong.Load())
	}
}

// activeInPrograms: of calls 20 deep, 5 have data, and the others are missed.
func activeInPrograms(t *suites.T, block bool) {
	l := runRecursive(t, nil, &attach.Options{Block: block, Data: 1, Active: 5})
	if got := l.Ledger(); got.Entered != 1000 || got.Handled != 250 || got.NoInst != 750 || got.Unexplained() != 0 {
		t.Errorf("%+v", got)
	}
}

// dataEverywhere: one link, with data, at a program's function, at the system call that it makes, and at
// the kernel's function for that; each end is after its beginning, and they are nested.
func dataEverywhere(t *suites.T) {
	run(t, "true")
	var took [3]atomic.Int64
	l := attachTo(t, func(h *attach.Hit) {
		for i, s := range []attach.Kind{attach.Program, attach.Call, attach.Kernel} {
			if h.Place.Site.Kind == s {
				took[i].Add(h.Time() - int64(h.Data[0]))
			}
		}
	}, &attach.Options{Data: 1, Entry: func(h *attach.Hit) bool {
		h.Data[0] = uint64(h.Time())
		return true
	}}, "ret:/bin/cat:syscall.write", "ret:sys:write", "ret:sonde/linux/syscall.write")
	for range 5 {
		run(t, cat)
	}
	l.Close()
	expect(t, l, 15, 15)
	if took[0].Load() < took[1].Load() || took[1].Load() < took[2].Load() || took[2].Load() <= 0 {
		t.Errorf("the function takes %d ns, its system call %d, the kernel %d", took[0].Load(), took[1].Load(), took[2].Load())
	}
}

// dataRefused: nothing is left attached.
func dataRefused(t *suites.T) {
	run(t, "true")
	before := len(uprobes.All())
	for _, c := range []struct {
		place string
		o     attach.Options
		errno syscall.Errno
		says  string
	}{
		{"/bin/cat:syscall.write", attach.Options{Data: 1}, syscall.EINVAL, "give ret:/bin/cat:syscall.write"},
		{"ret:/bin/cat:syscall.write", attach.Options{Data: 1 << 14}, syscall.ERANGE, "16384 words"},
		{"ret:/bin/cat:syscall.write", attach.Options{Data: 64, Active: 1 << 20}, syscall.ENOMEM, "MiB"},
		{"ret:/bin/cat:syscall.write", attach.Options{Active: -1}, syscall.ERANGE, "-1 calls at the same time"},
		{"ret:/bin/cat:runtime.memmove", attach.Options{Data: 1}, syscall.EOPNOTSUPP, "assembly"},
	} {
		_, err := attach.AttachTo(nil, &c.o, "ret:/bin/cat:syscall.read", c.place)
		if c.errno == syscall.EINVAL {
			_, err = attach.AttachTo(nil, &c.o, c.place)
		}
		if !errors.Is(err, c.errno) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %+v: %v", c.place, c.o, err)
		}
	}
	if n := len(uprobes.All()); n != before {
		t.Errorf("%d probes are left", n-before)
	}
}

func programPattern(t *suites.T) {
	run(t, "true")
	l := attachTo(t, nil, nil, "/bin/cat:syscall.*")
	run(t, cat)
	l.Close()
	calls := map[string]uint64{}
	for _, p := range l.Places() {
		calls[p.Where] = p.Ledger.Handled
	}
	if len(calls) < 10 || calls["/bin/cat:syscall.write"] != 1 {
		t.Errorf("%d functions, %d calls of write", len(calls), calls["/bin/cat:syscall.write"])
	}
}

// counter is a program that adds 1 to a word 100 times: MOV CX, 100; INC [ProgramData]; DEC CX; JNZ; exit(0).
var counter = []byte{
	0xb9, 100, 0, 0, 0,
	0x48, 0xff, 0x04, 0x25, byte(suites.ProgramData & 0xff), byte(suites.ProgramData >> 8 & 0xff), byte(suites.ProgramData >> 16), 0,
	0xff, 0xc9, 0x75, 0xf4,
	0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05,
}

func watchProgram(t *suites.T) {
	run(t, "true")
	const path = "/tmp/counter"
	suites.WriteProgram(t, path, counter)
	defer vfs.Remove(path)
	var wrong atomic.Int64
	var l *attach.Link
	p := suites.StartProgram(t, path, func(p *proc.Process) {
		l = attachTo(t, func(h *attach.Hit) {
			if h.New != h.Old+1 || !h.MayBlock {
				wrong.Add(1)
			}
		}, nil, attach.Site{Kind: attach.Watch, PID: p.PID, Addr: suites.ProgramData, Length: 8}.String())
	})
	if s := suites.WaitProgram(t, p); s != 0 {
		t.Errorf("exit %d, signal %d", s.Code(), s.Signal())
	}
	l.Close()
	expect(t, l, 100, 100)
	if wrong.Load() != 0 {
		t.Errorf("%d hits have wrong values", wrong.Load())
	}
}

func programsRefused(t *suites.T) {
	t.OneProcessor()
	run(t, "true")
	for place, errno := range map[string]syscall.Errno{
		"/bin/cat:no.such": syscall.ENOENT, "/bin/cat:no.such*": syscall.ENOENT, "/no/file:main": syscall.ENOENT, "/proc/version:main": syscall.ENODEV,
		"99999:0x401000": syscall.ESRCH, "99999:w@0x401000:8": syscall.ESRCH, "sys:none": syscall.ENOENT, "99999:sys:read": syscall.ESRCH,
	} {
		_, err := attach.AttachTo(nil, nil, "/bin/cat:syscall.write", "sys:write", place)
		if !errors.Is(err, errno) || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: %v, want %v", place, err, errno)
		}
	}
}
