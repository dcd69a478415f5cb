//go:build tamago

package user

import (
	"runtime"

	ring3 "sonde/arch/amd64/user"
	"sonde/ktest/suites"
	"sonde/linux/space"
)

func init() {
	suites.Add("user/changed_pages_are_seen", changedPagesAreSeen)
}

// loadOnce loads what SI points to into DI, then makes a system call.
var loadOnce = []byte{
	0x8b, 0x3e, // mov edi, [rsi]
	0x0f, 0x05, // syscall
}

// A reader is a program that reads two pages, and what it must find there.
type reader struct {
	*suites.T
	s    *space.Space
	c    *ring3.Context
	want [2]uint32
}

// changedPagesAreSeen has a program read pages that are other frames each time, or may not be read.
// Its thread is passed from goroutine to goroutine, and so from CPU to CPU: a CPU that missed a few
// changes must not use an old mapping.
func changedPagesAreSeen(t *suites.T) {
	before := frames()
	s, c := inSpace(t, loadOnce, 16*pageSize)
	r := &reader{T: t, s: s, c: c}
	const rounds = 2000
	turn := make(chan uint32, 1)
	turn <- 0
	for range 3 {
		t.Go(func() {
			runtime.LockOSThread() // else they take turns on one CPU
			defer runtime.UnlockOSThread()
			for i := range turn {
				if i == rounds || t.Failed() {
					close(turn)
					return
				}
				func() {
					defer func() { turn <- i + 1 }() // also if it fails
					r.round(i)
				}()
			}
		})
	}
	t.Wait()
	s.Release()
	if after := frames(); after != before {
		t.Errorf("%d frames in use before, %d after", before, after)
	}
}

// round changes a page, and lets the program look at both.
func (r *reader) round(i uint32) {
	n := i % 2
	addr := dataAt + uint64(n)*pageSize
	r.Must(r.s.Discard(addr, pageSize))
	r.Must(r.s.Store32(addr, i))
	r.want[n] = i
	r.look(i)
	switch i % 8 {
	case 3: // nothing may be read
		r.Must(r.s.Protect(addr, pageSize, 0))
		r.c.Regs.IP, r.c.Regs.SI = codeAt, addr
		if e, err := serve(r.c, r.s); err == nil {
			r.Fatalf("round %d: %s: a page without rights was read", i, what(r.c, e))
		}
		r.Must(r.s.Protect(addr, pageSize, space.Read|space.Write))
		r.look(i)
	case 5: // the page is copied
		child, err := r.s.Fork()
		r.Must(err)
		r.Must(r.s.Store32(addr, i+1))
		r.want[n] = i + 1
		r.look(i)
		child.Release()
	case 7: // more pages than are flushed one by one
		r.Must(r.s.Discard(dataAt, 16*pageSize))
		r.want = [2]uint32{}
		r.look(i)
	}
}

// look has the program read both pages.
func (r *reader) look(i uint32) {
	for n, want := range r.want {
		r.c.Regs.IP, r.c.Regs.SI = codeAt, dataAt+uint64(n)*pageSize
		if e, err := serve(r.c, r.s); e != ring3.SystemCall || uint32(r.c.Regs.DI) != want {
			r.Fatalf("round %d: %s: %v, page %d is %d, want %d", i, what(r.c, e), err, n, uint32(r.c.Regs.DI), want)
		}
	}
}
