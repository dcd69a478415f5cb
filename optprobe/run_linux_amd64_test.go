package optprobe

import (
	"syscall"
	"testing"
	"unsafe"

	"sonde/arch/amd64/insn"
)

// The page holds, below 2 GB where a return address fits a push:
const (
	pageFunc   = 0x000 // a function under test
	pageCallee = 0x400 // and what it may call
	pageDetour = 0x800 // the copy of its region
	pageSize   = 0x1000
)

// runs are functions of RAX and RBX with the result in RAX, as Go calls them.
// They are called as they are and with a jump at off, for several arguments.
var runs = []struct {
	name string
	code string
	off  int
}{
	{"arithmetic", "4801d8 48ffc0 c3", 0},
	{"jcc and jmp", "4839d8 7405 [add] 4801d8 eb03 [neg] 48f7d8 [1:] 48ffc0 c3", 0},
	{"jcc, jump back", "90 [cmp] 4839d8 7503 [inc] 48ffc0 [1:] 4801d8 c3", 1},
	{"loop", "4889d9 83e107 48ffc1 31d2 [1:] 48ffc2 e2fb 4801d0 c3", 11},
	{"jrcxz", "4889c1 e303 [add] 4801d8 [1:] 48ffc0 c3", 3},
	{"RIP-relative load", "480305 02000000 48ffc0 c3 1122334455667788", 0},
	{"flags", "4839d8 9c 9d 720348ffc0 c3", 0},
	{"call", "e8fb030000 4801d8 c3", 0},
	{"call through a register", "488d0df9030000 4831d2 ffd1 4801d8 c3", 7},
	{"call through the stack", "488d0df9030000 51 53 ff542408 5b59 c3", 7},
	{"call through memory", "488d0df9030000 51 488d1424 ff12 59 c3", 8},
	{"ret", "90 4801d8 c3", 0},
}

// callee adds RBX to RAX, and its own return address: with a copy that pushes
// any other, the result differs.
const callee = "4801d8 48030424 c3"

func TestCopiesDoTheSame(t *testing.T) {
	const map32Bit = 0x40
	page, err := syscall.Mmap(-1, 0, pageSize, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|map32Bit)
	if err != nil {
		t.Skip("no page for code:", err)
	}
	defer syscall.Munmap(page)
	// Safe because: the page stays mapped while the addresses are used.
	base := uint64(uintptr(unsafe.Pointer(&page[0])))
	copy(page[pageCallee:], code(t, callee))
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			clear(page[:pageCallee])
			fn := code(t, c.code)
			copy(page, fn)
			want := results(base)
			detour(t, page, base, len(fn), c.off)
			if got := results(base); got != want {
				t.Errorf("with a jump %#x, without %#x", got, want)
			}
		})
	}
}

// detour writes the copy of the region at off, and the jump to it.
func detour(t *testing.T, page []byte, base uint64, size, off int) {
	t.Helper()
	in := page[:size]
	var s Scan
	s.Read(Function{Addr: base, Code: in})
	n, o := s.Check(off)
	if o.Reason != Fine {
		t.Fatal(o)
	}
	c, o := Relocate(in[off:off+n], base+uint64(off), base+pageDetour)
	if o.Reason != Fine {
		t.Fatal(o)
	}
	jump, _ := insn.Jump(base+uint64(off), base+pageDetour)
	copy(page[pageDetour:], c.Bytes())
	copy(page[off:], jump[:])
	for i := off + JumpSize; i < off+n; i++ {
		page[i] = 0xcc // no code comes here any more
	}
}

// results calls the function at addr.
func results(addr uint64) (r [4]uint64) {
	// Safe because: a func value is a pointer to a word with the code's address.
	p := &addr
	f := *(*func(a, b uint64) uint64)(unsafe.Pointer(&p))
	for i, arg := range [...][2]uint64{{1, 2}, {2, 1}, {7, 7}, {0, 1 << 63}} {
		r[i] = f(arg[0], arg[1])
	}
	return r
}
