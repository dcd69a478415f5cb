//go:build tamago

package user

import (
	"encoding/binary"
	"errors"
	"runtime"
	"sync/atomic"

	"sonde/arch/amd64"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/mm/frame"
	"sonde/ktest/suites"
	"sonde/linux/space"
)

func init() {
	suites.Add("user/page_faults_are_served", pageFaults)
	suites.Add("user/forked_spaces_are_apart", forked)
	suites.Add("user/unmapped_under_loops", unmappedUnderLoops)
}

// serve runs c in s, and serves its page faults, until another event comes.
func serve(c *ring3.Context, s *space.Space) (ring3.Event, error) {
	for {
		e := settle(c)
		if e != amd64.VEC_PF {
			return e, nil
		}
		want := space.Read
		switch {
		case c.Regs.Err&amd64.PF_W != 0:
			want = space.Write
		case c.Regs.Err&amd64.PF_I != 0:
			want = space.Exec
		}
		if err := s.Fault(c.CR2, want); err != nil {
			return e, err
		}
	}
}

// inSpace makes a space with code and size bytes of data.
func inSpace(t *suites.T, code []byte, size uint64) (*space.Space, *ring3.Context) {
	s, err := space.Kernel.New()
	t.Must(err)
	_, err = s.Map(codeAt, pageSize, space.Read|space.Write|space.Exec, space.Fixed, nil, 0)
	t.Must(err)
	_, err = s.Map(dataAt, size, space.Read|space.Write, space.Fixed, nil, 0)
	t.Must(err)
	if _, err := s.CopyOut(codeAt, code); err != nil {
		t.Fatalf("%v", err)
	}
	return s, in(s)
}

func in(s *space.Space) *ring3.Context {
	c := ring3.New()
	c.Use(s.Root(), s.Generation())
	c.Regs.IP = codeAt
	return c
}

// stores writes DI to each page from SI on, CX times; then a system call.
var stores = []byte{
	0x48, 0x01, 0x3e, // add [rsi], rdi
	0x48, 0x81, 0xc6, 0, 0x10, 0, 0, // add rsi, 4096
	0x48, 0xff, 0xc9, // dec rcx
	0x75, 0xf1, // jnz
	0x0f, 0x05, // syscall
}

const manyPages = 300

func store(c *ring3.Context, n uint64) {
	c.Regs.IP, c.Regs.SI, c.Regs.DI, c.Regs.CX = codeAt, dataAt, n, manyPages
}

// expect checks the pages that stores has written to.
func expect(t *suites.T, who string, s *space.Space, want uint64) {
	var b [8]byte
	for i := range uint64(manyPages) {
		if _, err := s.CopyIn(b[:], dataAt+i*pageSize); err != nil || binary.LittleEndian.Uint64(b[:]) != want {
			t.Fatalf("%s: page %d is % x, want %d (%v)", who, i, b, want, err)
		}
	}
}

// frames returns how many frames are in use.
func frames() uint64 { return uint64(frame.Kernel.Stats().Used) }

// pageFaults has a program touch pages that are mapped only then.
func pageFaults(t *suites.T) {
	before := frames()
	s, c := inSpace(t, stores, manyPages*pageSize)
	for i := range uint64(3) {
		store(c, 5)
		if e, err := serve(c, s); e != ring3.SystemCall {
			t.Fatalf("%s: %v", what(c, e), err)
		}
		expect(t, "it", s, 5*(i+1))
	}
	c.Regs.IP, c.Regs.CX = codeAt, 1 // SI is after the last page
	if e, err := serve(c, s); e != amd64.VEC_PF || !errors.Is(err, space.ErrNotMapped) || c.CR2 != dataAt+manyPages*pageSize {
		t.Errorf("%s: %v", what(c, e), err)
	}
	t.Must(s.Protect(dataAt, pageSize, space.Read))
	store(c, 1)
	if e, err := serve(c, s); e != amd64.VEC_PF || !errors.Is(err, space.ErrAccess) || c.CR2 != dataAt {
		t.Errorf("read-only: %s: %v", what(c, e), err)
	}
	s.Release()
	if after := frames(); after != before {
		t.Errorf("%d frames in use before, %d after", before, after)
	}
}

// forked has a program and its copy write to the pages that they share.
func forked(t *suites.T) {
	before := frames()
	s, c := inSpace(t, stores, manyPages*pageSize)
	store(c, 5)
	if e, err := serve(c, s); e != ring3.SystemCall {
		t.Fatalf("%s: %v", what(c, e), err)
	}
	child, err := s.Fork()
	t.Must(err)
	both := []*space.Space{s, child}
	for i, s := range both {
		t.Go(func() {
			c := in(s)
			store(c, uint64(100*(i+1)))
			if e, err := serve(c, s); e != ring3.SystemCall {
				t.Errorf("%s: %v", what(c, e), err)
			}
		})
	}
	t.Wait()
	expect(t, "the parent", s, 105)
	expect(t, "the child", child, 205)
	s.Release()
	expect(t, "the child alone", child, 205)
	child.Release()
	if after := frames(); after != before {
		t.Errorf("%d frames in use before, %d after", before, after)
	}
}

// unmappedUnderLoops: frames that a loop on another CPU has written to are freed and used by others;
// the loop must not write to them any more.
func unmappedUnderLoops(t *suites.T) {
	const rounds = 10
	before := frames()
	loop := append([]byte(nil), stores[:len(stores)-2]...)
	loop = append(loop, 0xf4) // HLT: again
	s, _ := inSpace(t, loop, manyPages*pageSize)
	var stop atomic.Bool
	var done atomic.Int64
	for range cpu.Num() {
		t.Go(func() {
			c := in(s)
			for !stop.Load() {
				store(c, 1)
				switch e, err := serve(c, s); {
				case e == amd64.VEC_GP:
					done.Add(1)
				case !errors.Is(err, space.ErrNotMapped):
					t.Fatalf("%s: %v", what(c, e), err)
				}
			}
		})
	}
	for range rounds {
		from := done.Load()
		t.Until("the loops to write", func() bool { return done.Load() > from })
		t.Must(s.Unmap(dataAt, manyPages*pageSize))
		var others []frame.Frame
		for range manyPages {
			f, err := frame.Kernel.Alloc()
			t.Must(err)
			others = append(others, f)
		}
		runtime.Gosched()
		for _, f := range others {
			for _, b := range frame.Kernel.Bytes(f) {
				if b != 0 {
					t.Fatalf("a frame given back is written to")
				}
			}
			frame.Kernel.Put(f)
		}
		_, err := s.Map(dataAt, manyPages*pageSize, space.Read|space.Write, space.Fixed, nil, 0)
		t.Must(err)
	}
	stop.Store(true)
	t.Wait()
	s.Release()
	if after := frames(); after != before {
		t.Errorf("%d frames in use before, %d after", before, after)
	}
}
