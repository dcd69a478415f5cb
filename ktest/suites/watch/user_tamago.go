//go:build tamago && !nolinux

package watch

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/linux/proc"
)

func init() {
	suites.Add("watch/program_writes", programWrites)
	suites.Add("watch/program_reads_only", programReads)
	suites.Add("watch/program_beside_another", programBeside)
	suites.Add("watch/program_beside_another_that_reads", programBesideReading)
	suites.Add("watch/program_beside_one_that_comes_and_goes", programBesideComing)
	suites.Add("watch/program_executes", programExecutes)
	suites.Add("watch/program_executes_what_is_anothers", programExecutesBeside)
	suites.Add("watch/program_that_steps_itself", programSteps)
	suites.Add("watch/program_that_steps_leaves_no_bits", programLeavesNoBits)
	suites.Add("watch/program_refused_and_ended", programRefused)
	suites.Add("watch/program_handler_keeps_its_cpu", programHandlerLoops)
}

// A program that counts to rounds in the word at counter and exits.
const (
	codeAt  = suites.ProgramAt
	counter = suites.ProgramData
	rounds  = 500
)

var (
	countUp = []byte{
		0x48, 0xff, 0x04, 0x25, 0x00, 0x20, 0x40, 0x00, // INCQ counter
		0x48, 0x81, 0x3c, 0x25, 0x00, 0x20, 0x40, 0x00, rounds & 0xff, rounds >> 8, 0, 0, // CMPQ counter, $rounds
		0x72, 0xea, // JB to the INCQ
		0xb8, 0xe7, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05, // exit_group(0)
	}
	setTF = []byte{0x9c, 0x81, 0x0c, 0x24, 0, 1, 0, 0, 0x9d} // PUSHFQ; ORL $TF, (SP); POPFQ
)

// run starts a program, after ready, and returns how it ended.
func run(t *suites.T, path string, ready func(p *proc.Process)) proc.Status {
	return suites.WaitProgram(t, suites.StartProgram(t, path, ready))
}

// programWrites: hits of the process that is watched, not of others at the same address.
func programWrites(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	var hits []kwatch.Hit
	var reg int
	status := run(t, path, func(p *proc.Process) {
		var err error
		reg, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Write, func(h *kwatch.Hit, th *proc.Thread) {
			if hits = append(hits, *h); th.Process() != p {
				t.Errorf("a hit of another process")
			}
		})
		t.Must(err)
		if other := run(t, path, nil); other != proc.Exited(0) {
			t.Errorf("another process: %v", other)
		}
	})
	l := off(t, reg)
	if status != proc.Exited(0) || len(hits) != rounds || l.Ledger.Handled != rounds {
		t.Fatalf("%v, %d hits of %d; %+v", status, len(hits), rounds, l.Ledger)
	}
	for i, h := range hits {
		if h.Old != uint64(i) || h.New != h.Old+1 || h.IP != codeAt+8 || h.TID == 0 {
			t.Fatalf("hit %d: %+v", i, h)
		}
	}
}

// programReads: of an instruction that reads and one that writes, a watchpoint of reads tells the first.
func programReads(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	var n, bad, reg int
	status := run(t, path, func(p *proc.Process) {
		var err error
		reg, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Read, func(h *kwatch.Hit, _ *proc.Thread) {
			if n++; h.Old != h.New || h.New != uint64(n) || h.IP != codeAt+20 {
				bad++
			}
		})
		t.Must(err)
	})
	if l := off(t, reg); status != proc.Exited(0) || n != rounds || bad != 0 || l.Ledger.Handled != rounds || l.Ledger.Declined != rounds {
		t.Errorf("%v, %d hits of %d, %d of them wrong; %+v", status, n, rounds, bad, l.Ledger)
	}
}

// programBesideReading: as programBeside, of accesses that change nothing.
func programBesideReading(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	var n, others, reg, first int
	run(t, path, func(other *proc.Process) {
		var err error
		first, err = kwatch.RegisterKwatchUser(other, counter, 8, kwatch.ReadWrite, func(*kwatch.Hit, *proc.Thread) { others++ })
		t.Must(err)
		run(t, path, func(p *proc.Process) {
			reg, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.ReadWrite, func(*kwatch.Hit, *proc.Thread) { n++ })
			t.Must(err)
		})
		if off(t, reg); n != 2*rounds || others != 0 {
			t.Errorf("%d hits of %d; the other process, which has not run, has %d", n, 2*rounds, others)
		}
	})
	if off(t, first); others != 2*rounds {
		t.Errorf("the other process has %d hits of %d", others, 2*rounds)
	}
}

// programBeside: the same address is watched in another process, too, by an earlier register:
// the only one that QEMU reports.
func programBeside(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	var n, others int
	var reg, first int
	run(t, path, func(other *proc.Process) {
		var err error
		first, err = kwatch.RegisterKwatchUser(other, counter, 8, kwatch.Write, func(*kwatch.Hit, *proc.Thread) { others++ })
		t.Must(err)
		for _, length := range []int{8, 4} {
			n = 0
			run(t, path, func(p *proc.Process) {
				reg, err = kwatch.RegisterKwatchUser(p, counter, length, kwatch.Write, func(*kwatch.Hit, *proc.Thread) { n++ })
				t.Must(err)
			})
			if off(t, reg); n != rounds || others != 0 {
				t.Errorf("%d bytes: %d hits of %d; the other process, which has not run, has %d", length, n, rounds, others)
			}
		}
	})
	if off(t, first); others != rounds {
		t.Errorf("the other process has %d hits of %d", others, rounds)
	}
}

// programBesideComing: the watchpoint of the other process is unregistered between a hit of this one's
// and its handler, and the kernel may have one in its place by then. Those hits used to be lost.
func programBesideComing(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	var n int
	run(t, path, func(other *proc.Process) {
		register := func() int {
			first, err := kwatch.RegisterKwatchUser(other, counter, 8, kwatch.Write, func(*kwatch.Hit, *proc.Thread) {})
			t.Must(err)
			return first
		}
		for range suites.Rounds(20, 1000) {
			first := register()
			n = 0
			var reg int
			p := suites.StartProgram(t, path, func(p *proc.Process) {
				var err error
				reg, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Write, func(*kwatch.Hit, *proc.Thread) { n++ })
				t.Must(err)
			})
			for ended := false; !ended; {
				select {
				case <-p.Done():
					ended = true
				default:
				}
				t.Must(kwatch.UnregisterKwatch(first))
				kernels, err := kwatch.RegisterKwatch(wordAt(), 8, kwatch.Write, func(*kwatch.Hit, *amd64.Regs) {})
				t.Must(err)
				t.Must(kwatch.UnregisterKwatch(kernels))
				first = register()
			}
			suites.WaitProgram(t, p)
			t.Must(kwatch.UnregisterKwatch(first))
			if off(t, reg); n != rounds {
				t.Errorf("%d hits of %d", n, rounds)
			}
		}
	})
}

func programExecutes(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	n, reg := 0, 0
	status := run(t, path, func(p *proc.Process) {
		var err error
		reg, err = kwatch.RegisterKwatchUser(p, codeAt+8, 1, kwatch.Execute, func(h *kwatch.Hit, th *proc.Thread) {
			if n++; h.IP != codeAt+8 || n > 2*rounds {
				p.Kill(9)
			}
		})
		t.Must(err)
	})
	off(t, reg)
	if status != proc.Exited(0) || n != rounds {
		t.Errorf("%v, %d hits of %d", status, n, rounds)
	}
}

// programExecutesBeside: a program gets past an instruction that is watched in another. It used to
// hit the watchpoint for ever.
func programExecutesBeside(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	run(t, path, func(other *proc.Process) {
		var n atomic.Int32
		reg, err := kwatch.RegisterKwatchUser(other, codeAt+8, 1, kwatch.Execute, func(*kwatch.Hit, *proc.Thread) { n.Add(1) })
		t.Must(err)
		p := suites.StartProgram(t, path, nil)
		t.Until("the other program to end", func() bool {
			select {
			case <-p.Done():
				return true
			default:
				return false
			}
		})
		off(t, reg)
		if status := suites.WaitProgram(t, p); status != proc.Exited(0) || n.Load() != 0 {
			t.Errorf("%v, %d hits of the other", status, n.Load())
		}
	})
}

// programSteps: a program sets TF itself, and its next instruction writes what is watched.
// QEMU makes two #DBs of that (arch/amd64/trap, debug_step_trap.go).
func programSteps(t *suites.T) {
	t.NeedPrograms()
	const path = "/steps"
	suites.WriteProgram(t, path, append(setTF, countUp...))
	defer vfs.Remove(path)
	for range 20 {
		n, reg := 0, 0
		status := run(t, path, func(p *proc.Process) {
			var err error
			reg, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Write, func(h *kwatch.Hit, th *proc.Thread) { n++ })
			t.Must(err)
		})
		off(t, reg)
		if status != proc.Killed(5) || n != 1 {
			t.Fatalf("%v, %d hits; want SIGTRAP and 1", status, n)
		}
	}
}

// programLeavesNoBits: DR6 reports a program's step. If that bit stays, the kernel's next hit on
// this CPU is taken for a step, too.
func programLeavesNoBits(t *suites.T) {
	t.NeedPrograms()
	const path = "/steps"
	suites.WriteProgram(t, path, append(setTF, countUp...))
	defer vfs.Remove(path)
	for range 10 {
		var s seen
		reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
		if status := run(t, path, nil); status != proc.Killed(5) {
			t.Errorf("%v", status)
		}
		bits := uint64(0)
		suites.EachCPU(func(int) { atomic.OrUint64(&bits, debugreg.ReadDR6()&^debugreg.DR6_FIXED); incWord() })
		if off(t, reg); bits != 0 || s.n.Load() != int64(cpu.Num()) {
			t.Fatalf("DR6 has %#x, %d hits on %d CPUs", bits, s.n.Load(), cpu.Num())
		}
	}
}

// programHandlerLoops: a handler that loops without calling anything would stop the collector, and with
// it everything. It is ended, and the program continues.
func programHandlerLoops(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	var over atomic.Bool
	n, reg := 0, 0
	time.AfterFunc(suites.Limit/2, func() { over.Store(true) })
	status := run(t, path, func(p *proc.Process) {
		var err error
		reg, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Write, func(*kwatch.Hit, *proc.Thread) {
			for n++; n == 3 && !over.Load(); {
			}
		})
		t.Must(err)
	})
	runtime.GC()
	if l := off(t, reg); over.Load() || status != proc.Exited(0) || n != 3 || !l.Gone || l.Ledger.Handled != 2 || l.Ledger.Abandoned != 1 {
		t.Errorf("%v, %d handlers began, in time: %v; %+v", status, n, !over.Load(), l)
	}
}

func programRefused(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	suites.WriteProgram(t, path, countUp)
	defer vfs.Remove(path)
	never := func(*kwatch.Hit, *proc.Thread) { panic("it has a bug") }
	var ended *proc.Process
	reg, good := -1, -1 // the handler of good is not abandoned
	run(t, path, func(p *proc.Process) {
		ended = p
		for _, addr := range []uintptr{0, 0x500000, wordAt() &^ 7, 1<<47 - 8} {
			if n, err := kwatch.RegisterKwatchUser(p, addr, 8, kwatch.Write, never); !errors.Is(err, syscall.EFAULT) {
				t.Errorf("%#x: %d, %v", addr, n, err)
			}
		}
		if _, err := kwatch.RegisterKwatchUser(p, counter+4, 8, kwatch.Write, never); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("misaligned: %v", err)
		}
		if _, err := kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Write, nil); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("no handler: %v", err)
		}
		var err error
		reg, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Write, never)
		t.Must(err)
		good, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Write, func(*kwatch.Hit, *proc.Thread) {})
		t.Must(err)
	})
	t.Until("the end to be noticed", func() bool { return kwatch.All()[0].Gone && kwatch.All()[1].Gone })
	t.Until("no CPU to watch for it", func() bool {
		var still atomic.Uint64
		suites.EachCPU(func(int) { still.Or(debugreg.Enabled(debugreg.ReadDR7())) })
		return still.Load() == 0
	})
	if l := off(t, good); l.Ledger.Abandoned != 0 {
		t.Errorf("%+v", l)
	}
	if l := off(t, reg); l.Ledger.Abandoned != 1 || !strings.Contains(l.Where, "of process") {
		t.Errorf("%+v", l)
	}
	if _, err := kwatch.RegisterKwatchUser(ended, counter, 8, kwatch.Write, never); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a process that has ended: %v", err)
	}
}
