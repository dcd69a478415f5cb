package user

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"sonde/arch/amd64"
)

func TestFP(t *testing.T) {
	c := New()
	state := bytes.Repeat([]byte{0xff}, 512)
	copy(state[fxMXCSR:], []byte{0xff, 0xff, 0, 0}) // the rest would fault
	if err := c.SetFP(state); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(c.FP(), state) {
		t.Errorf("% x", c.FP()[:32])
	}
	if x := c.user.X87[fxMXCSR:]; binary.LittleEndian.Uint32(x) != amd64.MXCSR {
		t.Errorf("what the x87 is loaded from has MXCSR % x, which may fault", x[:4])
	}
	clear(c.fx[:fxMXCSR]) // leave does not store these, nor what follows MXCSR
	clear(c.fx[fxST:fxXMM])
	if !bytes.Equal(c.FP(), state) {
		t.Errorf("% x", c.FP()[:64])
	}
	old := append([]byte(nil), state...)
	if err := c.SetFP(state[:511]); !errors.Is(err, ErrFP) {
		t.Error(err)
	}
	state[fxMXCSR+2] = 1
	if err := c.SetFP(state); !errors.Is(err, ErrFP) || !bytes.Equal(c.FP(), old) {
		t.Errorf("a bit that MXCSR does not have: %v, % x", err, c.FP()[:32])
	}
}

// withAVX plays a processor with AVX.
func withAVX(t *testing.T) {
	avx = true
	t.Cleanup(func() { avx = false })
}

// TestStateOfAVX: the upper halves are where XSAVE stores them, and New's if a state does not have
// them.
func TestStateOfAVX(t *testing.T) {
	withAVX(t)
	c := New()
	if fp := c.FP(); len(fp) != 832 || FPSize() != 832 || cap(fp) < 836 || fp[512] != 3 {
		t.Fatalf("%d bytes, header % x", len(fp), fp[512:520])
	}
	state := append([]byte(nil), c.FP()...)
	state[512] = 7
	for i := range 256 {
		state[xUpper+i] = byte(i + 1)
	}
	if err := c.SetFP(state); err != nil || !bytes.Equal(c.FP(), state) || !bytes.Equal(c.user.X87[xUpper:], state[xUpper:]) || c.user.X87[512] != 7 {
		t.Errorf("%v, % x", err, c.FP()[512:])
	}
	if n := c.Clone(); !bytes.Equal(n.FP(), state) {
		t.Errorf("clone: % x", n.FP()[512:])
	}
	state[fxST], state[fxXMM] = 9, 9
	for _, s := range []struct {
		name    string
		present byte
		zero    [][2]int
	}{{"no AVX", 3, [][2]int{{xUpper, xSize}}}, {"AVX only", 4, [][2]int{{fxST, fxXMM + 256}}}, {"no SSE", 5, [][2]int{{fxXMM, fxXMM + 256}}}} {
		state[512] = s.present
		want := append([]byte(nil), state...)
		want[512] = s.present | 3
		for _, z := range s.zero {
			clear(want[z[0]:z[1]])
		}
		if err := c.SetFP(state); err != nil || !bytes.Equal(c.FP(), want) {
			t.Errorf("%s: %v, % x", s.name, err, c.FP())
		}
	}
	state[512] = 7
	c.SetFP(state)
	if err := c.SetFP(state[:512]); err != nil || !bytes.Equal(c.user.X87[xUpper:], make([]byte, 256)) {
		t.Errorf("FXSAVE's: %v, % x", err, c.user.X87[xUpper:])
	}
	c.SetFP(state)
	if c.Reset(); c.user.X87[xHeader] != 0 || c.x87 != 0 || !bytes.Equal(c.FP(), New().FP()) || c.user.X87[xHeader] != 3 {
		t.Errorf("reset: % x", c.user.X87)
	}
}

// TestInvalidStates are refused as XRSTOR refuses them, and change nothing.
func TestInvalidStates(t *testing.T) {
	withAVX(t)
	c := New()
	before := append([]byte(nil), c.FP()...)
	for _, x := range []struct {
		off int
		bit byte
		ok  bool
	}{{512, 8, false}, {519, 0x80, false}, {520, 1, false}, {527, 0x80, false}, {535, 1, false}, {536, 1, true}, {fxMXCSR + 2, 1, false}} {
		state := append([]byte(nil), before...)
		state[x.off] |= x.bit
		if err := c.SetFP(state); (err == nil) != x.ok || !x.ok && !bytes.Equal(c.FP(), before) {
			t.Errorf("byte %d, bit %#x: %v", x.off, x.bit, err)
		}
	}
	if err := c.SetFP(before[:600]); !errors.Is(err, ErrFP) {
		t.Error(err)
	}
}

// TestHasAVX: XSAVE's area must have the place that is compiled in.
func TestHasAVX(t *testing.T) {
	for _, x := range []struct {
		max, c, size, offset uint32
		want                 bool
	}{{0xd, 5 << 26, 256, 576, true}, {0xc, 5 << 26, 256, 576, false}, {0xd, 1 << 26, 256, 576, false}, {0xd, 4 << 26, 256, 576, false}, {0xd, 5 << 26, 256, 832, false}} {
		got := hasAVX(func(leaf, sub uint32) (a, b, c, d uint32) {
			return map[uint32]uint32{0: x.max, 0xd: x.size}[leaf], x.offset, x.c, 0
		})
		if got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}

// TestSetFPLeavesWhatIsTheSame: the x87 need not be loaded after a handler that did not change it,
// and must be after one that did, whatever it changed.
func TestSetFPLeavesWhatIsTheSame(t *testing.T) {
	c := New()
	state := append([]byte(nil), c.FP()...)
	state[fxXMM], state[fxMXCSR+1] = 1, 0x3f
	c.x87 = 1
	if err := c.SetFP(state); err != nil || c.x87 != 1 {
		t.Errorf("the same: %v, x87 %d", err, c.x87)
	}
	for off := range fxXMM {
		if off >= fxMXCSR && off < fxST {
			continue
		}
		c.x87 = 1
		state[off] ^= 1
		if err := c.SetFP(state); err != nil || c.x87 != 0 || c.user.X87[off] != state[off] {
			t.Errorf("byte %d changed: %v, x87 %d", off, err, c.x87)
		}
	}
}

// TestResetAndCloneLoadTheX87: neither has its state in registers.
func TestResetAndCloneLoadTheX87(t *testing.T) {
	c := New()
	c.user.X87[fxST], c.user.Live, c.x87 = 7, 1, 1
	n := c.Clone()
	if n.x87 != 0 || n.user.Live != 0 || n.user.X87[fxST] != 7 || c.x87 != 1 {
		t.Errorf("clone: x87 %d, live %d, %d", n.x87, n.user.Live, n.user.X87[fxST])
	}
	if c.Reset(); c.x87 != 0 || c.user.Live != 0 || c.user.X87[fxST] != 0 || binary.LittleEndian.Uint16(c.user.X87[:]) != amd64.FCW {
		t.Errorf("reset: x87 %d, live %d, % x", c.x87, c.user.Live, c.user.X87[:fxXMM])
	}
}
