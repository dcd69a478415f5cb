//go:build linux && amd64

package place

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"sonde/arch/amd64"
)

// TestBranchesToNowhere: addresses that are not canonical, or that a program cannot execute,
// with a stack that is there, that is not, and that cannot be; as this processor does it.
func TestBranchesToNowhere(t *testing.T) {
	tr := newTrial(t)
	const wild = 1 << 47
	for _, to := range []uint64{wild, 1 << 60, ^uint64(1 << 47), wild - 1, wild - 7, 1<<64 - wild, codeAt + 0x800} {
		for _, sp := range []uint64{dataAt + 0x1000, dataAt, dataAt + dataSize, wild - 4} { // IRET itself refuses one that is not canonical
			for _, s := range []string{"ffd0", "ff12", "65ff10", "ffe0", "ff22", "ff6500", "c3", "c20800", "50", "58", "c9"} {
				code, err := hex.DecodeString(s)
				tr.must(err)
				plan, err := Decide(code, place)
				tr.must(err)
				begin := tr.random()
				begin.r.AX, begin.r.SP, begin.r.DX, begin.r.BP = to, sp, dataAt+0x1000, wild+8
				if s == "65ff10" {
					begin.r.AX, begin.gsBase = 0x600, dataAt+0xA00
				}
				binary.LittleEndian.PutUint64(begin.data[0x1000:], to)
				tr.all(plan, code, begin)
			}
		}
	}
}

// TestCallToNowhereByMaker: what each processor does, whatever this one is.
func TestCallToNowhereByMaker(t *testing.T) {
	defer func() { Processor = Intel }()
	const wild, sp = 1 << 60, 0x8000
	for _, c := range []struct {
		name string
		by   Maker
		code string
		m    memory
		want Fault // the zero Fault: none
		ip   uint64
		word uint64 // what is on the stack then
	}{
		{"Intel's", Intel, "ff d0", memory{addr: sp - 8}, Fault{Vector: amd64.VEC_GP, Addr: wild}, at, at + 2},
		{"AMD's", AMD, "ff d0", memory{addr: sp - 8}, Fault{Vector: amd64.VEC_GP, Addr: wild}, at, 0},
		{"QEMU's", Emulator, "ff d0", memory{addr: sp - 8}, Fault{}, wild, at + 2},
		{"AMD's, no stack", AMD, "ff d0", memory{}, Fault{Vector: amd64.VEC_PF, Err: 6, Addr: sp - 8}, at, 0},
		{"QEMU's jump", Emulator, "ff e0", memory{}, Fault{}, wild, 0},
	} {
		Processor = c.by
		c.m.r = amd64.Regs{AX: wild, SP: sp, IP: at}
		err := decide(t, c.code).Do(&c.m)
		f := new(Fault)
		if errors.As(err, &f); f.Vector != c.want.Vector || f.Err != c.want.Err || f.Addr != c.want.Addr || c.m.r.IP != c.ip || c.m.value != c.word {
			t.Errorf("%s: %+v, IP %#x, on the stack %#x; want %+v, %#x, %#x", c.name, f, c.m.r.IP, c.m.value, c.want, c.ip, c.word)
		}
	}
	for vendor, want := range map[string]Maker{"AuthenticAMD": AMD, "HygonGenuine": AMD, "GenuineIntel": Intel, "": Intel} {
		if got := MakerOf(vendor); got != want {
			t.Errorf("%q: %v", vendor, got)
		}
	}
}
