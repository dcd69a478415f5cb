//go:build linux

package fuse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/internal/native"
	"sonde/probe/attach"
)

// Where at GS the tests' words are.
const inside, count, value, absent = 64, 72, 80, 88

// handler is a handler whose code is given: it counts in value, and changes registers.
type handler struct {
	changes []uint8
	looks   bool // and bails out if what is at absent is not 0
	needs   int  // registers that must be saved
	err     error
	at      attach.Fusion
}

func (h *handler) Ready() bool { return true }

func (h *handler) Fuse(at *attach.Fusion) (*attach.Fused, error) {
	h.at = *at
	if at.Most < h.needs {
		return nil, errors.New("more registers are needed")
	}
	if h.changes == nil {
		h.changes = append(append(h.changes, at.Free...), at.Others[:at.Most]...)
	}
	f := &attach.Fused{Changes: h.changes}
	code := []byte{0x65, 0x48, 0x83, 0x3C, 0x25, absent, 0, 0, 0, 0, // CMPQ absent(GS), $0
		0x65, 0xC7, 0x04, 0x25, 0, 0, 0, 0, 1, 0, 0, 0} // MOVL $1, running(GS)
	binary.LittleEndian.PutUint32(code[14:], uint32(trap.OffsetRunning))
	if h.looks {
		code = append(code, 0x0F, 0x85, 0, 0, 0, 0) // JNE
		f.Bails = []int{len(code) - 4}
	}
	code = append(code, 0x65, 0xC7, 0x04, 0x25, 0, 0, 0, 0, 0, 0, 0, 0) // MOVL $0, running(GS)
	binary.LittleEndian.PutUint32(code[len(code)-8:], uint32(trap.OffsetRunning))
	code = append(code, 0x65, 0x48, 0xFF, 0x04, 0x25, byte(at.Count), 0, 0, 0, // INCQ count(GS)
		0x65, 0x48, 0xFF, 0x04, 0x25, value, 0, 0, 0) // INCQ value(GS)
	for _, r := range h.changes {
		code = append(code, 0x48|r>>3, 0xF7, 0xD0|r&7, 0x48|r>>3<<2|r>>3, 0x39, 0xC0|r&7<<3|r&7) // NOTQ r; CMPQ r, r
	}
	f.Code = code
	return f, h.err
}

// run executes code with registers and flags as in regs, which it changes; SP is as it was. It reports whether the
// general way was taken.
func run(t *testing.T, m *native.Machine, page []byte, spec *Spec, regs *[17]uint64) (general bool) {
	t.Helper()
	base := native.AddressOf(page)
	area, own := page[3072:][:136], page[3328:][:136]
	var code []byte
	rel := func(to uintptr) { code = binary.LittleEndian.AppendUint32(code, uint32(to-base-uintptr(len(code)+4))) }
	each := func(op byte, area []byte) {
		for r := range uint8(16) {
			if r != 4 {
				code = append(code, 0x48|r>>3<<2, op, r&7<<3|5)
				rel(native.AddressOf(area[8*r:]))
			}
		}
	}
	flags := func(op, r byte) {
		code = append(code, op, r<<3|5)
		rel(native.AddressOf(area[128:]))
	}
	for i, v := range regs {
		binary.LittleEndian.PutUint64(area[8*i:], v)
	}
	area[136-8+7] = 0
	each(0x89, own)
	flags(0xFF, 6)
	code = append(code, 0x9D) // POPFQ
	each(0x8B, area)
	code = append(code, 0xE9) // JMP to the entry, below
	entry := len(code)
	code = append(code, 0, 0, 0, 0)
	end := func(mark byte) { // leaves the registers, and a mark in AL of the caller
		each(0x89, area)
		code = append(code, 0x9C)
		flags(0x8F, 0)
		each(0x8B, own)
		code = append(code, 0xB8, mark, 0, 0, 0, 0xC3)
	}
	spec.General = base + uintptr(len(code))
	end(1)
	spec.At = base + uintptr(len(code))
	c, err := Make(spec)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(code[entry:], uint32(len(code)+c.Entry-entry-4))
	code = append(code, c.Bytes...)
	end(0)
	copy(page, code)
	mark, err := m.Call(base, 0, 0, 8*Pushed+64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range regs {
		regs[i] = binary.LittleEndian.Uint64(area[8*i:])
	}
	return mark == 1
}

// bails is added to what is inside, where the handler finds no key.
const bails = 1 << 63

// TestHits: what the place needs is as it was, whatever the code is allowed to change; the hit is counted, and the
// handler's code executed, unless the CPU is in another hit or in a program.
func TestHits(t *testing.T) {
	m, page := native.New(t, 0), native.Memory(t, 4096, 0)
	gs := m.CPU()
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(gs[at:]) }
	runs := func() uint32 { return binary.LittleEndian.Uint32(gs[trap.OffsetRunning:]) }
	for _, free := range [][]uint8{nil, {12, 13, 15}, {15}} {
		for _, dead := range []bool{false, true} {
			for _, is := range []uint64{0, 1, 1 << 32, 7<<32 | 9, bails, 1 | bails} {
				for _, flags := range []uint64{0x202, 0x2 | 0x8d5, 0x2 | 0x801, 0x2 | 0x0d4} {
					regs, h := [17]uint64{16: flags}, &handler{looks: is&bails != 0 || flags == 0x202}
					for i := range 16 {
						regs[i] = 0x0101010101010101 * uint64(i+1)
					}
					before := regs
					clear(gs)
					binary.LittleEndian.PutUint64(gs[inside:], is&^bails)
					binary.LittleEndian.PutUint64(gs[absent:], is&bails)
					spec := Spec{Inside: inside, Count: count, Dead: dead, Free: free, Handler: h, IP: 77}
					general := run(t, m, page, &spec, &regs)
					want := uint64(1)
					if is != 0 {
						want = 0
					}
					if general != (is != 0) || word(count) != want || word(value) != want || word(inside) != is&^bails || runs() != 0 {
						t.Errorf("inside %#x: the general way %v, counted %d and %d, running %d", is, general, word(count), word(value), runs())
					}
					if h.at.IP != 77 || len(h.at.Stack) == 0 != dead {
						t.Errorf("%+v", h.at)
					}
					for r := range 17 {
						ours := r == 4 || r < 16 && bytes.IndexByte(free, uint8(r)) >= 0 || r == 16 && dead
						if mask := uint64(0x8d5); r == 16 && !ours && regs[r]&mask != before[r]&mask || r != 16 && !ours && regs[r] != before[r] {
							t.Errorf("free %v, flags dead %v: %d is %#x, was %#x", free, dead, r, regs[r], before[r])
						}
					}
				}
			}
		}
	}
}

// TestDepth: at each instruction as many words are on the stack as the code has pushed, or has not popped yet.
func TestDepth(t *testing.T) {
	for i := range 4 {
		dead, looks := i&1 != 0, i&2 != 0
		c, err := Make(&Spec{Dead: dead, Free: []uint8{12}, Handler: &handler{looks: looks}, Check: func(at uintptr) []byte {
			if at != uintptr(len(before(t, dead, looks))) {
				t.Errorf("the check is at %#x", at)
			}
			return []byte{0x90, 0x90}
		}})
		if err != nil {
			t.Fatal(err)
		}
		depth, most := 0, 0
		for off := c.Entry; off < len(c.Bytes); {
			in, err := insn.Decode(c.Bytes[off:])
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Depth(off); got != depth {
				t.Errorf("at %d of % x: %d words, want %d", off, c.Bytes, got, depth)
			}
			if in.Trait.Has(insn.Push) {
				depth++
			}
			if in.Trait.Has(insn.Pop) {
				depth--
			}
			most = max(most, depth)
			off += int(in.Len)
		}
		if depth != 0 || most != Pushed {
			t.Errorf("%d words are left, %d at most", depth, most)
		}
		for off := 0; off < c.Entry; {
			in, _ := insn.Decode(c.Bytes[off:])
			if off == 0 {
				depth = most
			}
			if got := c.Depth(off); got != depth {
				t.Errorf("on the general way, at %d: %d words, want %d", off, got, depth)
			}
			if in.Trait.Has(insn.Pop) {
				depth--
			}
			off += int(in.Len)
		}
	}
}

// before is the code in front of the entry.
func before(t *testing.T, dead, looks bool) []byte {
	c, err := Make(&Spec{Dead: dead, Free: []uint8{12}, Handler: &handler{looks: looks}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Bytes[:c.Entry]
}

// TestRefused: the handler's reason, and more registers than can be saved.
func TestRefused(t *testing.T) {
	why := errors.New("because")
	if _, err := Make(&Spec{Handler: &handler{err: why}}); !errors.Is(err, why) {
		t.Error(err)
	}
	if _, err := Make(&Spec{Handler: &handler{changes: []uint8{12, 13, 15, 11}}}); err == nil {
		t.Error("four registers beside the flags")
	}
}

// trapped gives registers values, pushes the frame of a trap as the entry has it, and jumps to what follows. There, hits go
// the general way at general, and the place's own code goes on at leads, which is moves behind the breakpoint.
func trapped(base uintptr, flags, moves uint32) (code []byte, general, leads uintptr) {
	code = []byte{0x49, 0xC7, 0xC7, 15, 0, 0, 0, 0x49, 0xC7, 0xC5, 13, 0, 0, 0, // MOVQ $15, R15; MOVQ $13, R13
		0x49, 0xC7, 0xC4, 12, 0, 0, 0, 0x49, 0xC7, 0xC3, 11, 0, 0, 0, // MOVQ $12, R12; MOVQ $11, R11
		0x48, 0x89, 0xE0, 0x6A, 0x2B, 0x50, 0x68, 0, 0, 0, 0, 0x6A, 0x33, 0x68, 0, 0, 0, 0, // SS, SP, flags, CS, IP
		0x41, 0x57, 0x41, 0x55, 0xE9, 0, 0, 0, 0} // PUSHQ R15; PUSHQ R13; JMP
	jump := len(code)
	general = base + uintptr(len(code))
	others := []byte{0x49, 0xC1, 0xE4, 32, 0x4C, 0x09, 0xE0, 0x49, 0xC1, 0xE3, 40, 0x4C, 0x09, 0xD8, 0xC3} // R12<<32 | R11<<40 | AX; RET
	code = append(append(code, 0x48, 0x83, 0xC4, 56, 0x49, 0x8D, 0x47, 1), others...)                      // ADDQ $56, SP; LEAQ 1(R15), AX
	leads = base + uintptr(len(code))
	code = append(code, 0x9C, 0x58, 0x25, 0xD5, 0x08, 0, 0, // PUSHFQ; POPQ AX; ANDL $the flags, AX
		0x4D, 0x01, 0xFD, 0x4D, 0x01, 0xFD, 0x49, 0xC1, 0xE5, 16, 0x4C, 0x09, 0xE8) // ADDQ R15, R13, twice; SHLQ $16, R13; ORQ R13, AX
	code = append(code, others...)
	binary.LittleEndian.PutUint32(code[jump-9-5-2-4:], flags)
	binary.LittleEndian.PutUint32(code[jump-9-4:], uint32(leads)-moves)
	binary.LittleEndian.PutUint32(code[jump-4:], uint32(len(code)-jump))
	return code, general, leads
}

// TestStub: the code of an INT3 leaves the entry stack as if there had been no trap, at the place's own code. It runs the
// handler's unless the CPU is in another hit.
func TestStub(t *testing.T) {
	m, page := native.New(t, native.Low), native.Memory(t, 4096, native.Low)
	gs := m.CPU()
	base := native.AddressOf(page)
	for i := range 12 {
		is, needs := []uint64{0, 1, 1 << 32, bails}[i%4], i/4
		clear(gs)
		binary.LittleEndian.PutUint64(gs[inside:], is&^bails)
		binary.LittleEndian.PutUint64(gs[absent:], is&bails)
		code, general, leads := trapped(base, 0xAD7, 0)
		at := base + uintptr(len(code))
		h := &handler{looks: is != 1, needs: needs}
		stub, err := Stub(&Spec{At: at, General: general, Inside: inside, Count: count, IP: 77, Handler: h}, leads)
		if err != nil {
			t.Fatal(err)
		}
		copy(page, append(code, stub...))
		got, err := m.Call(base, 0, 0, 256)
		want, ran := uint64((13+15+15)<<16|0x8D5), uint64(1)
		if is != 0 {
			want, ran = 16, 0
		}
		if is == bails {
			want = 1 // it is to look for the place
		}
		want |= 12<<32 | 11<<40
		counted := [3]uint64{}
		for i, at := range []int{count, value, int(trap.OffsetBreakpoints)} {
			counted[i] = binary.LittleEndian.Uint64(gs[at:])
		}
		if err != nil || got != want || counted != [3]uint64{ran, ran, ran} || binary.LittleEndian.Uint32(gs[trap.OffsetRunning:]) != 0 {
			t.Errorf("inside %#x: %#x, want %#x; counted %v, %v", is, got, want, counted, err)
		}
		if h.at.IP != 77 || len(h.at.Stack) != 2 || h.at.Most != needs || int(h.at.Stack[13]) != 8*needs {
			t.Errorf("%+v", h.at)
		}
	}
	if _, err := Stub(&Spec{Handler: &handler{needs: 3}}, 1); err == nil {
		t.Error("it needs three registers")
	}
	if _, err := Stub(&Spec{Handler: &handler{}}, 1<<40); err == nil {
		t.Error("it leads too far away")
	}
}

// TestInProgram: the code of a breakpoint of ring 3 leaves the entry stack as if there had been no trap, so many bytes
// later. It runs the handler's unless the program single-steps itself.
func TestInProgram(t *testing.T) {
	m, page := native.New(t, native.Low), native.Memory(t, 4096, native.Low)
	gs := m.CPU()
	base := native.AddressOf(page)
	for i := range 12 {
		steps, moves, needs := i&1 != 0, []uint32{0, 0xFFFF8000}[i/2%2], i/4
		clear(gs)
		flags, want, ran := uint32(0xAD7), uint64((13+15+15)<<16|0x8D5|12<<32|11<<40), uint64(1)
		if steps {
			flags, want, ran = flags|0x100, 16|12<<32|11<<40, 0
		}
		code, general, _ := trapped(base, flags, moves)
		h := &handler{needs: needs}
		stub, err := InProgram(&Spec{At: base + uintptr(len(code)), General: general, Count: count, IP: 77, Handler: h}, int32(moves))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(stub); !bytes.Equal(stub[n-5:], []byte{0x0F, 0x01, 0xF8, 0x48, 0xCF}) { // SWAPGS; IRETQ
			t.Fatalf("% x", stub)
		}
		copy(stub[len(stub)-5:], []byte{0x0F, 0x1F, 0}) // a NOP: this is ring 3
		copy(page, append(code, stub...))
		got, err := m.Call(base, 0, 0, 256)
		counted := [3]uint64{}
		for i, at := range []int{count, value, int(trap.OffsetBreakpoints)} {
			counted[i] = binary.LittleEndian.Uint64(gs[at:])
		}
		if err != nil || got != want || counted != [3]uint64{ran, ran, ran} {
			t.Errorf("steps %v, moves %#x: %#x, want %#x; counted %v, %v", steps, moves, got, want, counted, err)
		}
	}
	if _, err := InProgram(&Spec{Handler: &handler{looks: true}}, 0); err == nil {
		t.Error("it looks for keys")
	}
}
