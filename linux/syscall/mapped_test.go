package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
	"sonde/linux/proctest"
	"sonde/linux/space"
)

const nFtruncate, nPwrite, nMremap = 77, 18, 25

// runMapped runs a program that maps files: their pages come from the kernel's frames, so the
// program's must, too.
func runMapped(t *testing.T, f proctest.Program) {
	t.Helper()
	w, kernel, used := world(t), space.Kernel, frame.Kernel.Stats().Used
	w.Machine.Frames = frame.Kernel
	space.Kernel = w.Machine
	cut := backing.Cut
	backing.Cut = w.Machine.Cut
	defer func() { space.Kernel, backing.Cut = kernel, cut }()
	finish(t, w, begin(t, w, f))
	if n := frame.Kernel.Stats().Used; n > used {
		t.Errorf("%d frames are left", n-used)
	}
}

// TestSharedMappingIsTheFile: bytes written through the mapping are read from the file, and the
// other way round.
func TestSharedMappingIsTheFile(t *testing.T) {
	runMapped(t, func(p *player) {
		f := openNew(p, "/mapped", abi.O_RDWR)
		p.Poke(scratch, []byte("0123456789"))
		p.Call(nWrite, f, scratch, 10)
		shared := uint64(p.Call(nMmap, 0, space.PageSize, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_SHARED, f, 0))
		private := uint64(p.Call(nMmap, 0, space.PageSize, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE, f, 0))
		got := func(at uint64) string { return string(p.Peek(at, 10)) }
		if got(shared) != "0123456789" || got(private) != "0123456789" {
			t.Errorf("%q, %q", got(shared), got(private))
		}
		p.Poke(scratch, []byte("ab"))
		p.Call(nPwrite, f, scratch, 2, 4)
		if got(shared) != "0123ab6789" || got(private) != "0123ab6789" {
			t.Errorf("written: %q, %q", got(shared), got(private))
		}
		p.Poke(shared+8, []byte("yz"))
		p.Call(nPread, f, scratch, 10, 0)
		if got(scratch) != "0123ab67yz" || got(private) != "0123ab67yz" {
			t.Errorf("stored: %q, %q", got(scratch), got(private))
		}
		p.Poke(private, []byte("P"))
		p.Call(nPread, f, scratch, 10, 0)
		if got(scratch) != "0123ab67yz" || got(shared) != "0123ab67yz" || got(private) != "P123ab67yz" {
			t.Errorf("stored privately: %q, %q, %q", got(scratch), got(shared), got(private))
		}
		pid := p.Fork(func(c *player) { c.Poke(shared+5, []byte("C")) }, nFork)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
		if got(shared) != "0123aC67yz" {
			t.Errorf("a child's: %q", got(shared))
		}
	})
}

// TestTruncatedMapping: pages after the new end of a file are SIGBUS, and EFAULT for system calls,
// also private copies of them. They used to stay.
func TestTruncatedMapping(t *testing.T) {
	runMapped(t, func(p *player) {
		const page = space.PageSize
		p.PokeString(pathAddr, "without a name")
		memory := uint64(p.Call(nMemfd, pathAddr, 0))
		for _, kind := range []uint64{abi.MAP_SHARED, abi.MAP_PRIVATE} {
			f := memory
			if kind == abi.MAP_PRIVATE {
				f = openNew(p, "/mapped", abi.O_RDWR)
			}
			p.Call(nFtruncate, f, 3*page)
			at := uint64(p.Call(nMmap, 0, 2*page, abi.PROT_READ|abi.PROT_WRITE, kind, f, page))
			p.Poke(at, []byte("a"))
			p.Poke(at+page, []byte("b"))
			want(t, p, "ftruncate", p.Call(nFtruncate, f, page+1), 0)
			want(t, p, "the page that is left", p.Call(nPwrite, f, at, 1, 0), 1)
			want(t, p, "the page that is gone", p.Call(nPwrite, f, at+page, 1, 0), errno(sys.EFAULT))
			var got []abi.Siginfo
			action(p, abi.SIGBUS, func(p *player, _, info, _ uint64) { got = append(got, siginfoAt(p, info)) }, abi.SA_SIGINFO, 0)
			p.Fault(14, 4, at+page+8)
			if len(got) != 1 || got[0].Code != abi.BUS_ADRERR || got[0].Addr() != at+page+8 {
				t.Errorf("got %+v", got)
			}
			want(t, p, "longer again", p.Call(nFtruncate, f, 3*page), 0)
			if b := p.Peek(at+page, 1)[0]; b != 0 {
				t.Errorf("the page comes back with %#x", b)
			}
			p.Call(nMunmap, at, 2*page)
		}
	})
}
