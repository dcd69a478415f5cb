package fuse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/internal/native"
	"sonde/probe/attach"
)

// Where at GS the tests' words are.
const inside, count, value = 64, 72, 80

// handler is a handler whose code is given: it counts in value, and changes registers.
type handler struct {
	changes []uint8
	err     error
	at      attach.Fusion
}

func (h *handler) Ready() bool { return true }

func (h *handler) Fuse(at *attach.Fusion) (code []byte, changes []uint8, err error) {
	h.at = *at
	if h.changes == nil {
		h.changes = append(append(h.changes, at.Free...), at.Others[:at.Most]...)
	}
	code = []byte{0x65, 0x48, 0xFF, 0x04, 0x25, value, 0, 0, 0} // INCQ value(GS)
	for _, r := range h.changes {
		code = append(code, 0x48|r>>3, 0xF7, 0xD0|r&7, 0x48|r>>3<<2|r>>3, 0x39, 0xC0|r&7<<3|r&7) // NOTQ r; CMPQ r, r
	}
	return code, h.changes, h.err
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

// TestHits: what the place needs is as it was, whatever the code is allowed to change; the hit is counted, and the
// handler's code executed, unless the CPU is in another hit or in a program.
func TestHits(t *testing.T) {
	m, page := native.New(t, 0), native.Memory(t, 4096, 0)
	gs := m.CPU()
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(gs[at:]) }
	for _, free := range [][]uint8{nil, {12, 13, 15}, {15}} {
		for _, dead := range []bool{false, true} {
			for _, is := range []uint64{0, 1, 1 << 32, 7<<32 | 9} {
				for _, flags := range []uint64{0x202, 0x2 | 0x8d5, 0x2 | 0x801, 0x2 | 0x0d4} {
					regs, h := [17]uint64{16: flags}, &handler{}
					for i := range 16 {
						regs[i] = 0x0101010101010101 * uint64(i+1)
					}
					before := regs
					clear(gs)
					binary.LittleEndian.PutUint64(gs[inside:], is)
					spec := Spec{Inside: inside, Count: count, Dead: dead, Free: free, Handler: h, IP: 77}
					general := run(t, m, page, &spec, &regs)
					want := uint64(1)
					if is != 0 {
						want = 0
					}
					if general != (is != 0) || word(count) != want || word(value) != want || word(inside) != is {
						t.Errorf("inside %#x: the general way %v, counted %d and %d", is, general, word(count), word(value))
					}
					if h.at.IP != 77 || h.at.Stack == dead {
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
	for _, dead := range []bool{false, true} {
		c, err := Make(&Spec{Dead: dead, Free: []uint8{12}, Handler: &handler{}, Check: func(at uintptr) []byte {
			if at != uintptr(len(before(t, dead))) {
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
func before(t *testing.T, dead bool) []byte {
	c, err := Make(&Spec{Dead: dead, Free: []uint8{12}, Handler: &handler{}})
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
