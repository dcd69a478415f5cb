//go:build linux

package jit

import (
	"fmt"
	"testing"

	"sonde/bpf"
	"sonde/internal/conformance"
	"sonde/internal/interp"
	"sonde/internal/native"
)

// The helpers of the tests' programs.
const (
	helperSum    = 1
	helperOne    = 5
	helperInline = 7 // R0 = R1 + 3
	helperWords  = 8
	helperBack   = 9
)

// machine executes programs by the interpreter and by their machine code.
type machine struct {
	native *native.Machine
	page   []byte
	memory []byte // what R1 is the address of
}

const (
	testCPU  = 0xC0C0_0001
	testLink = 0x1111_2222_3333
)

func newMachine(t testing.TB, flags int) *machine {
	return &machine{
		native: native.New(t, testCPU),
		page:   native.Memory(t, 1<<20, flags),
		memory: native.Memory(t, 4096, 0),
	}
}

func (m *machine) base() uint64 { return uint64(native.AddressOf(m.memory)) }

// view has all helpers.
func view() *View {
	return &View{Helper: func(_ int, number int32) (Helper, error) {
		switch number {
		case helperSum:
			return Helper{Entry: native.Address(native.Sum)}, nil
		case helperOne:
			return Helper{Entry: native.Address(native.One)}, nil
		case helperInline:
			return Helper{Inline: []byte{0x49, 0x8D, 0x40, 0x03}}, nil // lea 3(R8), AX
		case helperWords:
			return Helper{Entry: native.Address(native.Words), Context: true, CPU: true, Link: true}, nil
		case helperBack:
			return Helper{Entry: native.Address(native.Back), Context: true, Link: true}, nil
		}
		return Helper{}, fmt.Errorf("no helper has the number %d", number)
	}}
}

// program makes a Program whose functions have all the stack there is.
func program(insns []bpf.Insn) *Program {
	p := &Program{Insns: insns}
	entries := map[int]bool{0: true}
	for pc, in := range insns {
		if in.Op == uint8(bpf.JMP)|bpf.Call && in.Src() == bpf.CallLocal || in.IsWide() && in.Src() == bpf.Function {
			entries[pc+1+in.Distance()] = true
		}
	}
	for range entries {
		p.Stack = append(p.Stack, MaxStack)
	}
	return p
}

// compiled runs p by its machine code.
func (m *machine) compiled(p *Program, v *View) (uint64, *Image, error) {
	image, err := Compile(p, native.AddressOf(m.page), v)
	if err != nil {
		return 0, nil, err
	}
	copy(m.page, image.Code)
	r0, err := m.native.Call(native.AddressOf(m.page), testLink, m.base(), depth(image))
	return r0, image, err
}

// depth returns how much stack the code may take. Helpers take little, but may call all functions.
func depth(image *Image) int {
	frames, helpers := 0, false
	for _, f := range image.functions {
		frames += f.size + 256
		helpers = helpers || f.helpers
	}
	if helpers {
		return image.Stack + frames
	}
	return image.Stack
}

// interpreted runs p by the interpreter, over memory at the same address.
func (m *machine) interpreted(insns []bpf.Insn, memory []byte) (uint64, int, error) {
	i, err := interp.New(insns)
	if err != nil {
		return 0, 0, err
	}
	i.Regions = []interp.Region{{Name: "the memory", Base: m.base(), Bytes: memory, Writable: true}}
	i.Helpers = interpHelpers(m)
	r0, err := i.Run(m.base())
	return r0, i.Steps, err
}

// interpHelpers are the helpers of view for the interpreter.
func interpHelpers(m *machine) map[int32]interp.Helper {
	return map[int32]interp.Helper{
		helperSum: func(_ *interp.Machine, a [5]uint64) (uint64, error) {
			return a[0] + 3*a[1] + 5*a[2] + 7*a[3] + 11*a[4], nil
		},
		helperOne:    func(*interp.Machine, [5]uint64) (uint64, error) { return 1, nil },
		helperInline: func(_ *interp.Machine, a [5]uint64) (uint64, error) { return a[0] + 3, nil },
		helperWords: func(*interp.Machine, [5]uint64) (uint64, error) {
			return m.base() + 3*testCPU + 5*testLink, nil
		},
		helperBack: func(i *interp.Machine, a [5]uint64) (uint64, error) { return i.Call(int(a[0]), a[1], a[2], a[3], a[4]) },
	}
}

// TestConformance runs the suite that eBPF's executions share, where it is. R2 is not passed to a
// handler: an instruction in front of the program loads it.
func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T, c *conformance.Case) (uint64, error) {
		m := newMachine(t, 0)
		copy(m.memory, c.Memory)
		size := bpf.Insn{Op: uint8(bpf.ALU64) | bpf.Mov, Regs: 2, Imm: int32(len(c.Memory))}
		r0, _, err := m.compiled(program(append([]bpf.Insn{size}, c.Insns...)), view())
		return r0, err
	})
}
