//go:build tamago && !nolinux

package watch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/linux/proc"
)

func init() {
	suites.Add("watch/random_registers", randomRegisters)
	suites.Add("watch/program_moves_debug_registers", programMoves)
}

// cells are 8 bytes for each goroutine, which alone writes them.
var cells [64]uint64

// A watcher is one registration at a time, and what its handler saw.
type watcher struct {
	reg              int
	addr             uintptr
	typ              kwatch.Type
	on               atomic.Bool
	n, strays, wrong atomic.Int64
}

func (w *watcher) note(h *kwatch.Hit) {
	w.n.Add(1)
	if !w.on.Load() {
		w.strays.Add(1)
	}
	if h.Addr != w.addr || h.Type != w.typ {
		w.wrong.Add(1)
	}
}

func (w *watcher) hit(h *kwatch.Hit, _ *amd64.Regs) { w.note(h) }

// check reports hits that belong to no watchpoint, or to another one.
func (w *watcher) check(t *suites.T, what string) {
	if w.strays.Load() != 0 || w.wrong.Load() != 0 {
		t.Errorf("%s: of %d hits %d after its end, %d another's", what, w.n.Load(), w.strays.Load(), w.wrong.Load())
	}
}

// randomRegisters: goroutines on all CPUs register watchpoints of any type, length and
// address, of the kernel's memory and of programs that run. Each gets its own hits, the
// accounts add up, and no debug register remains on.
func randomRegisters(t *suites.T) {
	const path = "/counts"
	if suites.Programs != nil {
		suites.WriteProgram(t, path, countUp)
		defer vfs.Remove(path)
	}
	seed, before := rand.Uint64(), kwatch.Ended()
	t.Logf("seed %d", seed)
	var handled, refused, programs atomic.Int64
	each := suites.Rounds(240, 16_000) / (2 * suites.CPUs()) // as many on every machine
	for i := range 2 * suites.CPUs() {
		t.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for range each {
				var w watcher
				err := errSkipped
				if suites.Programs == nil || r.IntN(4) != 0 {
					err = w.kernel(t, r, i)
				} else {
					err = w.program(t, r, path)
					programs.Add(1)
				}
				handled.Add(w.n.Load())
				if err != nil {
					refused.Add(1)
				}
			}
		})
	}
	t.Wait()
	t.Logf("count: watch/random-hits %d", handled.Load())
	t.Logf("count: watch/random-refused %d", refused.Load())
	t.Logf("count: watch/random-programs %d", programs.Load())
	after := kwatch.Ended()
	if got := int64(after.Handled - before.Handled); got != handled.Load() || after.Unexplained() != before.Unexplained() || handled.Load() == 0 || refused.Load() == 0 {
		t.Errorf("handlers were called %d times, the accounts say %d: %+v, then %+v", handled.Load(), got, before, after)
	}
	var left atomic.Uint64
	suites.EachCPU(func(int) { left.Or(debugreg.Enabled(debugreg.ReadDR7())) })
	if n := len(kwatch.All()); n != 0 || left.Load() != 0 {
		t.Errorf("%d watchpoints are left, registers %#x are on", n, left.Load())
	}
}

var errSkipped = errors.New("nothing was tried")

// sound checks that a refusal is one of those that registering documents.
func sound(t *suites.T, what string, err error) {
	if !slices.ContainsFunc([]syscall.Errno{syscall.EINVAL, syscall.EFAULT, syscall.EBUSY, syscall.EILSEQ, syscall.ESRCH},
		func(e syscall.Errno) bool { return errors.Is(err, e) && err.Error() != e.Error() }) {
		t.Errorf("%s: %v", what, err)
	}
}

// kernel watches something of goroutine i's cell or of the shared code and word.
func (w *watcher) kernel(t *suites.T, r *rand.Rand, i int) error {
	cell := uintptr(unsafe.Pointer(&cells[i]))
	length := []int{1, 2, 4, 8, 8, 8, 3, -1, 0, 16}[r.IntN(10)]
	w.typ = kwatch.Type(r.IntN(4))
	w.addr = []uintptr{cell, cell, cell, wordAt(), incAt, readAt, 0, uintptr(r.Uint64())}[r.IntN(8)] + uintptr(r.IntN(8))
	if w.typ == kwatch.Execute && r.IntN(4) != 0 {
		w.addr, length = incAt, 1
	}
	what := fmt.Sprintf("%s of %d bytes at %#x", w.typ, length, w.addr)
	w.on.Store(true)
	reg, err := kwatch.RegisterKwatch(w.addr, length, w.typ, w.hit)
	if err != nil {
		sound(t, what, err)
		return err
	}
	stores, calls := 0, 0
	for range 1 + r.IntN(20) {
		at := uintptr(r.IntN(8))
		p := (*uint8)(unsafe.Add(unsafe.Pointer(&cells[i]), at))
		put8(p, *p+1)
		if cell+at >= w.addr && cell+at < w.addr+uintptr(length) {
			stores++
		}
		if r.IntN(4) == 0 {
			incWord()
			calls++
		}
	}
	t.Must(kwatch.UnregisterKwatch(reg))
	w.on.Store(false)
	put8((*uint8)(unsafe.Pointer(&cells[i])), 0)
	n := int(w.n.Load())
	switch {
	case w.addr&^7 == cell && w.typ == kwatch.Write && n != stores:
		t.Errorf("%s: %d hits of %d", what, n, stores)
	case w.typ == kwatch.Execute && n < calls:
		t.Errorf("%s: %d hits of %d", what, n, calls)
	}
	w.check(t, what)
	return nil
}

// program watches something of a program that counts.
func (w *watcher) program(t *suites.T, r *rand.Rand, path string) (err error) {
	length := []int{1, 2, 4, 8, 8, 5}[r.IntN(6)]
	w.addr, w.typ = counter+uintptr(r.IntN(2)*r.IntN(8)), kwatch.Type(r.IntN(4))
	if w.typ == kwatch.Execute {
		w.addr, length = codeAt+8, 1
	}
	what := fmt.Sprintf("%s of %d bytes at %#x of a program", w.typ, length, w.addr)
	early := r.IntN(4) == 0 // it is unregistered before the program has ended; otherwise after that
	p := suites.StartProgram(t, path, func(p *proc.Process) {
		w.on.Store(true)
		w.reg, err = kwatch.RegisterKwatchUser(p, w.addr, length, w.typ, func(h *kwatch.Hit, th *proc.Thread) {
			if w.note(h); th.Process() != p {
				w.wrong.Add(1)
			}
		})
	})
	if err != nil {
		sound(t, what, err)
		suites.WaitProgram(t, p)
		return err
	}
	if early {
		t.Must(kwatch.UnregisterKwatch(w.reg))
		w.on.Store(false)
	}
	status := suites.WaitProgram(t, p)
	if !early {
		t.Must(kwatch.UnregisterKwatch(w.reg))
		w.on.Store(false)
	}
	exact := !early && w.addr == counter && length == 8 && w.typ == kwatch.Write || w.typ == kwatch.Execute && !early
	if n := w.n.Load(); status != proc.Exited(0) || n > 3*rounds || exact && n != rounds {
		t.Errorf("%s: %v, %d hits, %d rounds", what, status, n, rounds)
	}
	w.check(t, what)
	return nil
}

// programMoves: ring 3 may neither read nor write a debug register, and what is watched
// stays watched.
func programMoves(t *suites.T) {
	t.NeedPrograms()
	const path = "/moves"
	defer vfs.Remove(path)
	var s seen
	reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
	tries := 0
	for dr := range 16 {
		for _, op := range []byte{0x21, 0x23} { // from, to
			code := []byte{0x0f, op, 0xc0 | byte(dr&7)<<3}
			if dr >= 8 { // with REX.R there is no such register: #UD or #GP
				code = append([]byte{0x44}, code...)
			}
			suites.WriteProgram(t, path, append(code, countUp...))
			status := run(t, path, nil)
			if want := []proc.Status{proc.Killed(11), proc.Killed(4)}; status != want[0] && (dr < 8 || status != want[1]) {
				t.Errorf("%x: %v", code, status)
			}
			tries++
		}
	}
	before := s.n.Load()
	incWord()
	if l := off(t, reg); s.n.Load() != before+1 || before != 0 || !strings.Contains(l.Where, "word") {
		t.Errorf("%d hits, then %d: %+v", before, s.n.Load(), l)
	}
	t.Logf("count: watch/moves-in-ring-3 %d", tries)
}
