package uprobes

import (
	"flag"
	"os"
	osexec "os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/probe/glass"
	"sonde/uprobes/machine"
)

// trapped says that hits are handled where they arrive, as far as they can be: all tests of this package
// run a second time so. The fake machine has one CPU: a trap has it until it returns.
var trapped = flag.Bool("trapped", false, "handle hits where they arrive")

// TestInTrap runs all tests with hits that are handled where they arrive.
func TestInTrap(t *testing.T) {
	if *trapped {
		t.Skip("this is the second time")
	}
	args := []string{"-trapped"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	if out, err := osexec.Command(os.Args[0], args...).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	Init(nil, fakeMachine())
	if *trapped {
		careful = func(any) bool { return true }
	}
	os.Exit(m.Run())
}

// Registering as all tests do whose handlers may be called in trap context: they do not block, and register nothing.
func register(u *Uprobe) error {
	u.TrapSafe = *trapped
	return RegisterUprobe(u)
}

func registerReturn(rp *Uretprobe) error {
	rp.U.TrapSafe = *trapped
	return RegisterUretprobe(rp)
}

// The trap that runs, of which there is one at a time.
var inTrap struct {
	sync.Mutex
	goroutine atomic.Uint64 // 0: there is none
	player    *player
	saved     *amd64.Regs // whose SSE registers are saved
	hits      int         // that were completed
}

func fakeMachine() machine.Machine {
	return machine.Machine{
		Goroutine: goroutine,
		InTrap:    func() bool { return inTrap.goroutine.Load() == goroutine() },
		Shoot:     shoot,
		Reason:    func(to *[64]byte) { copy(to[:], "it has not returned") },

		CPU: func() int { return 0 },
		Program: machine.Program{
			SaveVectors: func(r *amd64.Regs) { inTrap.saved = r },
			LoadWord:    func(addr uint64) (uint64, bool) { return inTrap.player.LoadWord(addr) },
			LoadPair:    func(addr uint64) (uint64, uint64, bool) { return inTrap.player.LoadPair(addr) },
			SwapWord:    func(addr, v uint64) (uint64, bool) { return inTrap.player.SwapWord(addr, v) },
		},
	}
}

var lines = sync.Pool{New: func() any { return new([64]byte) }}

// goroutine returns this goroutine's number, from the first line of its stack trace, and allocates nothing.
func goroutine() (n uint64) {
	b := lines.Get().(*[64]byte)
	defer lines.Put(b)
	for _, c := range b[len("goroutine "):runtime.Stack(b[:], false)] {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}

// shoot makes a frame with registers alone.
func shoot(film *glass.Film, r *amd64.Regs, stage glass.Stage, place uintptr, of glass.Thread) (*glass.Frame, int) {
	f, n := film.Next()
	if f != nil {
		f.Stage, f.PID, f.TID = stage, int32(of.PID), int32(of.TID)
		if r != nil {
			f.SetRegs(r)
		}
	}
	return f, n
}

// hit is what the machine does with an event in ring 3: proctest.World's Hit.
func hit(p *player, thread uintptr) (done bool) {
	if thread == 0 {
		return false
	}
	inTrap.Lock()
	defer inTrap.Unlock()
	inTrap.player, inTrap.saved = p, nil
	inTrap.goroutine.Store(goroutine())
	defer inTrap.goroutine.Store(0)
	first := onHit
	if p.Regs().Vector == vecBreakpoint {
		first = func(r *amd64.Regs, thread uintptr, id int) bool { return onBreak(r, thread, id, 0) }
	}
	done, ended := handle(first, p, thread)
	for !ended {
		done, ended = handle(onAbandoned, p, thread)
	}
	if done {
		inTrap.hits++
	}
	return done
}

// handle calls one of the functions that handle hits. If a handler panics, its probe is disabled, and it has not ended.
func handle(f func(*amd64.Regs, uintptr, int) bool, p *player, thread uintptr) (done, ended bool) {
	defer func() {
		if st := &states[0].state; !ended && st.Probe != 0 {
			recover()
			asMember(st.Probe).flags.Set(abandoned)
		}
	}()
	return f(p.Regs(), thread, 0), true
}

// trapping lets hits in a world be handled where they arrive, those of threads without a hit so far among them.
func trapping(w *proctest.World) {
	w.Hit = func(p *player, thread uintptr) bool {
		if thread == 0 {
			if th := of(threadOf(p)); th != nil {
				th.tie() // as its first hit does
				thread = p.Probed()
			}
		}
		return hit(p, thread)
	}
}

// threadOf returns the thread of a player, which its goroutine does not use meanwhile.
func threadOf(p *player) *proc.Thread {
	for _, pr := range table.Processes() {
		for _, tid := range pr.Facts().Threads {
			if t, err := table.FindThread(0, tid); err == nil && t.CPU() == p {
				return t
			}
		}
	}
	panic("a player without a thread")
}
