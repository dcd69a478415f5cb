package uprobes

import (
	"testing"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/probe/ledger"
)

// Return probes on the exits of functions, and those of Go: what is known of a file is said by the test.

const (
	aRet  = textAt + 0x20 // RET
	aJump = textAt + 0x24 // JMP to other
	other = textAt + 0x30 // a function
	gAt   = textAt + 0x800
	gTop  = stack + 0x800 // the upper end of a goroutine's stack
)

// listReturn registers rp with the members that add makes.
func listReturn(t *testing.T, p *proc.Process, rp *Uretprobe, add func(*task, order) ([]*member, error)) {
	t.Helper()
	must(t, p.Memory().Out(aRet, []byte{0xC3}))
	must(t, p.Memory().Out(aJump, []byte{0xEB, other - aJump - 2}))
	rp.U.Pid, rp.U.Vaddr, rp.U.TrapSafe = p.PID, textAt, *trapped
	rp.U.ret = rp
	mu.Lock()
	defer mu.Unlock()
	tk, err := join(p)
	must(t, err)
	ms, err := add(tk, order{u: &rp.U, rp: rp, reg: true})
	must(t, err)
	shared := new(ledger.Counter)
	for _, m := range ms {
		m.Counter = shared
	}
	ms[0].others = ms[1:]
	rp.U.state.Store(ms[0])
	tk.list(ms)
}

// onExits has rp's function begin at textAt, and end with aRet and aJump.
func onExits(t *testing.T, p *proc.Process, rp *Uretprobe) {
	t.Helper()
	listReturn(t, p, rp, func(tk *task, o order) ([]*member, error) {
		return tk.addExits(o, textAt, &program.Exits{
			Returns: []uint64{aRet}, Jumps: []uint64{aJump}, Parts: []program.Span{{Begin: textAt, End: other}},
		}, 0)
	})
}

// returnsAt plays the RET at aRet with the return address in the word at sp.
func returnsAt(t *testing.T, p *player, sp, want uint64) {
	t.Helper()
	if to := p.Breakpoint(aRet, sp); to != want || p.Regs().SP != sp+8 {
		t.Errorf("it returns to %#x with SP %#x, not to %#x with %#x", to, p.Regs().SP, want, sp+8)
	}
}

// TestExits: calls that return, one in the other; one that ends with a tail call, and so by the trampoline; one that
// longjmp leaves; and one that began before the probe was there.
func TestExits(t *testing.T) {
	d := new(diary)
	rp := &Uretprobe{Handler: func(ri *UretprobeInstance, r *amd64.Regs) { d.add("%#x %#x %#x", ri.RetAddr, r.IP, r.SP-stack) }}
	play(t, func(p *proc.Process) { onExits(t, p, rp) }, func(p *player) {
		p.Poke64(stack, textAt+1)
		returnsAt(t, p, stack, textAt+1) // it began before
		for range 3 {
			enter(p, stack, textAt+1)
			enter(p, stack-0x20, textAt+2)
			returnsAt(t, p, stack-0x20, textAt+2)
			returnsAt(t, p, stack, textAt+1)
		}
		enter(p, stack, textAt+5)
		if to := p.Breakpoint(aJump, stack); to != other || p.Peek64(stack) == textAt+5 {
			t.Errorf("the jump leads to %#x, and leaves %#x on the stack", to, p.Peek64(stack))
		}
		if to := leave(p, stack); to != textAt+5 {
			t.Errorf("it returns to %#x", to)
		}
		enter(p, stack, textAt+1)
		enter(p, stack-0x20, textAt+2) // longjmp leaves it
		returnsAt(t, p, stack, textAt+1)
		enter(p, stack, textAt+1)
		p.Poke64(stack, textAt+9) // and here it reuses the slot
		returnsAt(t, p, stack, textAt+9)
	})
	in, out := "0x700002 0x700002 0xffffffffffffffe8", "0x700001 0x700001 0x8"
	d.wants(t, in, out, in, out, in, out, "0x700005 0x700005 0x8", out)
	if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 10, Handled: 8, Abandoned: 2}) {
		t.Errorf("%+v", l)
	}
}

// TestExitWithoutAStack: the RET of a call whose stack is not there faults as it would without a probe.
func TestExitWithoutAStack(t *testing.T) {
	rp := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) { t.Error("nothing has returned") }}
	s := played(t, func(p *proc.Process) { onExits(t, p, rp) }, func(p *player) {
		p.Breakpoint(aRet, 0x100000)
		p.Call(39)
	})
	if s.Signal() != 11 {
		t.Errorf("it ends with status %#x", s)
	}
}

// TestCallsWithData: what an entry handler stores is there when the call returns; calls that it does not want, and
// those beyond the limit, are not waited for. It changes nothing that calls begin elsewhere.
func TestCallsWithData(t *testing.T) {
	for name, on := range map[string]func(*testing.T, *proc.Process, *Uretprobe){
		"exits": onExits,
		"trampoline": func(t *testing.T, p *proc.Process, rp *Uretprobe) {
			rp.U.Pid, rp.U.Vaddr = p.PID, textAt
			must(t, registerReturn(rp))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := new(diary)
			n := uint64(0)
			rp := &Uretprobe{DataWords: 2, MaxActive: 2, Handler: func(ri *UretprobeInstance, _ *amd64.Regs) { d.add("%d %d", ri.Data[0], ri.Data[1]) }}
			rp.EntryHandler = func(ri *UretprobeInstance, r *amd64.Regs) int {
				if n++; ri.Data[0] != 0 || ri.Data[1] != 0 || ri.RetAddr != textAt+1 {
					t.Errorf("a call begins with %v, and returns to %#x", ri.Data, ri.RetAddr)
				}
				ri.Data[1] = n
				if n == 7 {
					panic("of a test")
				}
				return int(n % 3 / 2) // not the second of three
			}
			plain := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) { d.add("plain") }}
			back := func(p *player, sp uint64) {
				to := uint64(textAt + 1)
				if name == "trampoline" {
					if to = leave(p, sp); to != textAt+1 {
						t.Errorf("it returns to %#x", to)
					}
					return
				}
				returnsAt(t, p, sp, to)
			}
			play(t, func(p *proc.Process) {
				on(t, p, rp)
				if name == "trampoline" {
					on(t, p, plain)
				}
			}, func(p *player) {
				for range 6 {
					if enter(p, stack, textAt+1); p.Regs().IP != textAt+1 {
						t.Errorf("the function begins at %#x", p.Regs().IP)
					}
					back(p, stack)
				}
				if name == "trampoline" {
					must(t, UnregisterUretprobe(plain))
				}
				for i := range uint64(2) {
					enter(p, stack-0x20*i, textAt+1)
				}
				if b := p.Peek64(stack - 0x20); name == "exits" && b != textAt+1 {
					t.Errorf("%#x is its return address", b)
				}
				back(p, stack-0x20)
				back(p, stack)
			})
			plains := []string{"plain"}
			if name == "exits" {
				plains = nil
			}
			var want []string
			for i := 1; i <= 6; i++ {
				if i%3 != 2 {
					want = append(want, "0 "+string(rune('0'+i)))
				}
				want = append(want, plains...)
			}
			d.wants(t, want...)
			if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 8, Handled: 4, Declined: 2, Abandoned: 1, Disarmed: 1}) {
				t.Errorf("%+v", l)
			}
		})
	}
}

// goProgram plays a program in Go: R14 has its g, and its stack ends at gTop.
func goProgram(t *testing.T, rp *Uretprobe, returns bool, f func(p *player)) {
	t.Helper()
	play(t, func(p *proc.Process) {
		listReturn(t, p, rp, func(tk *task, o order) ([]*member, error) {
			if returns {
				return tk.place(o, textAt, []uint64{aRet}, returning{wants: wantsReturn})
			}
			return tk.addGoCalls(o, textAt, []uint64{aRet}, false)
		})
	}, func(p *player) {
		p.Poke64(gAt, stack-0x1000)
		p.Poke64(gAt+8, gTop)
		p.Regs().R14 = gAt
		f(p)
	})
}

// TestGoReturns: returns of Go functions without data are seen at their return instructions alone.
func TestGoReturns(t *testing.T) {
	d, n := new(diary), 0
	rp := &Uretprobe{Handler: func(ri *UretprobeInstance, r *amd64.Regs) {
		if d.add("%#x %v", ri.RetAddr, ri.RetAddr == r.IP); n == 2 {
			panic("of a test")
		}
		n++
	}}
	goProgram(t, rp, true, func(p *player) {
		for range 4 {
			p.Poke64(stack, textAt+1)
			returnsAt(t, p, stack, textAt+1)
		}
	})
	d.wants(t, "0x700001 true", "0x700001 true", "0x700001 true")
	if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 4, Handled: 2, Abandoned: 1, Disarmed: 1}) {
		t.Errorf("%+v", l)
	}
}

// TestGoCalls: calls of a goroutine are those of its g, whatever its stack is called; a panic leaves one.
func TestGoCalls(t *testing.T) {
	d, n := new(diary), uint64(0)
	rp := &Uretprobe{DataWords: 1, Handler: func(ri *UretprobeInstance, r *amd64.Regs) { d.add("%d %#x", ri.Data[0], r.IP) }}
	rp.EntryHandler = func(ri *UretprobeInstance, _ *amd64.Regs) int {
		n++
		ri.Data[0] = n
		return 0
	}
	goProgram(t, rp, false, func(p *player) {
		for range 2 {
			enter(p, stack, textAt+1)
			enter(p, stack-0x20, textAt+2)
			returnsAt(t, p, stack-0x20, textAt+2)
			returnsAt(t, p, stack, textAt+1)
		}
		enter(p, stack, textAt+3)
		p.Poke64(gAt, stack-0x1000-0x4000) // its stack moves
		p.Poke64(gAt+8, gTop-0x4000)
		p.Poke64(stack-0x4000, textAt+3)
		enter(p, stack-0x4000-0x40, textAt+4) // a panic leaves this one
		returnsAt(t, p, stack-0x4000, textAt+3)
		p.Poke64(stack-0x4000, textAt+9)
		returnsAt(t, p, stack-0x4000, textAt+9) // it began before
		p.Regs().R14 = 0x1000                   // no g
		enter(p, stack-0x4000, textAt+5)
		returnsAt(t, p, stack-0x4000, textAt+5)
	})
	d.wants(t, "2 0x700002", "1 0x700001", "4 0x700002", "3 0x700001", "5 0x700003")
	if l := rp.U.Ledger(); l != (ledger.Ledger{Entered: 7, Handled: 5, Abandoned: 1, NoInst: 1}) {
		t.Errorf("%+v", l)
	}
}
