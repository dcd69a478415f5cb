//go:build tamago

package user

import (
	"encoding/binary"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("user/all_of_sse_is_kept", sseIsKept)
	suites.Add("user/released_tables_are_nowhere", released)
}

// Where FXSAVE stores MXCSR and the XMM registers.
const (
	atMXCSR = 24
	atXMM   = 160
	lanes   = 2 * 16 // of 64 bits, in all XMM registers
)

// rounding are the bits of MXCSR that sse changes.
const rounding = 0x6000

// sse is a program that adds each XMM register's successor to it and inverts rounding,
// then makes a system call, for ever.
func sse() (code []byte) {
	for i := range byte(16) {
		next := (i + 1) % 16
		code = append(code, 0x66, 0x40|i>>3<<2|next>>3, 0x0f, 0xd4, 0xc0|i&7<<3|next&7) // PADDQ
	}
	code = append(code,
		0x0f, 0xae, 0x5c, 0x24, 0xf8, // stmxcsr [rsp-8]
		0x81, 0x74, 0x24, 0xf8, rounding&0xff, rounding>>8, 0, 0, // xor dword [rsp-8], rounding
		0x0f, 0xae, 0x54, 0x24, 0xf8, // ldmxcsr [rsp-8]
		0x0f, 0x05)
	return append(code, 0xeb, byte(-len(code)-2)) // jmp
}

// mxcsr returns MXCSR as it is now.
func mxcsr() uint32

// sseThread is a thread of sse, and what its registers have to be.
type sseThread struct {
	c     *ring3.Context
	lane  [lanes]uint64
	mxcsr uint32
}

func newSSEThread(t *suites.T, p *program, n uint64) *sseThread {
	x := &sseThread{c: p.thread(), mxcsr: amd64.MXCSR}
	fp := append([]byte(nil), x.c.FP()...)
	for i := range x.lane {
		x.lane[i] = n * uint64(i+1) * 0x9e3779b97f4a7c15
		binary.LittleEndian.PutUint64(fp[atXMM+8*i:], x.lane[i])
	}
	t.Must(x.c.SetFP(fp))
	return x
}

// round lets x make one system call.
func (x *sseThread) round(t *suites.T) {
	if e := settle(x.c); e != ring3.SystemCall {
		t.Fatalf("%s", what(x.c, e))
	}
	kernel := mxcsr()
	for i := range x.lane {
		x.lane[i] += x.lane[(i+2)%lanes]
	}
	x.mxcsr ^= rounding
	fp := x.c.FP()
	for i, want := range x.lane {
		if got := binary.LittleEndian.Uint64(fp[atXMM+8*i:]); got != want {
			t.Fatalf("XMM%d, lane %d: %#x, want %#x", i/2, i%2, got, want)
		}
	}
	if got := binary.LittleEndian.Uint32(fp[atMXCSR:]); got != x.mxcsr {
		t.Fatalf("MXCSR %#x, want %#x", got, x.mxcsr)
	}
	const flags = 0x3f // exceptions that instructions have raised
	if kernel&^flags != amd64.MXCSR {
		t.Fatalf("the kernel runs with MXCSR %#x", kernel)
	}
}

// sseIsKept has two threads take turns that change all of SSE's registers, with the
// kernel's use of them in between.
func sseIsKept(t *suites.T) {
	p := load(t, sse())
	defer p.Close()
	a, b := newSSEThread(t, p, 1), newSSEThread(t, p, 1<<20+3)
	for i := range 300 {
		a.round(t)
		floats()
		if i%3 != 0 { // so that they differ in rounding, too
			b.round(t)
		}
	}
}

// released: freed frames of page tables are used for anything, so no CPU may have them in CR3.
func released(t *suites.T) {
	for range 20 {
		s, c := inSpace(t, []byte{0x0f, 0x05}, pageSize)
		root := s.Root()
		if e, err := serve(c, s); e != ring3.SystemCall {
			t.Fatalf("%s: %v", what(c, e), err)
		}
		s.Release()
		var cr3 [trap.MaxCPUs]uint64
		suites.EachCPU(func(id int) { cr3[id] = cpu.ReadCR3() })
		for id := range cpu.Num() {
			if cr3[id]&amd64.PTE_ADDR == root || trap.Ring3Of(id).Loaded(root) {
				t.Fatalf("CPU %d has CR3 %#x: these tables are free", id, cr3[id])
			}
		}
	}
}
