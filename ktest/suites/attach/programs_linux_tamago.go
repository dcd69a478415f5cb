//go:build tamago && !nolinux

package attach

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/attach"
	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
)

func init() {
	suites.Add("attach/system_calls_and_functions_of_programs", callsAndFunctions)
	suites.Add("attach/handlers_that_block_and_that_do_not", blockInPrograms)
	suites.Add("attach/functions_of_a_program_by_pattern", programPattern)
	suites.Add("attach/watchpoint_in_a_program", watchProgram)
	suites.Add("attach/places_in_programs_refused", programsRefused)
}

// cat runs a program that writes once.
const cat = "/bin/cat /proc/uptime > /dev/null"

// run runs a line of the shell.
func run(t *suites.T, line string) {
	if suites.Programs == nil {
		t.Skipf("this machine cannot run programs")
	}
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
	if s := suites.WaitProgram(p); s != 0 {
		t.Errorf("exit %d, signal %d", s.Code(), s.Signal())
	}
	l.Close()
	expect(t, l, 100, 100)
	if wrong.Load() != 0 {
		t.Errorf("%d hits have wrong values", wrong.Load())
	}
}

func programsRefused(t *suites.T) {
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
