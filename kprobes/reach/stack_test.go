package reach

import (
	"strings"
	"testing"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

const (
	movR12SP = "\x49\x89\xe4"     // MOVQ SP, R12
	movSPR12 = "\x4c\x89\xe4"     // MOVQ R12, SP
	movSPm   = "\x48\x8b\x60\x38" // MOVQ 56(AX), SP
	movBPSP  = "\x48\x89\xec"     // MOVQ BP, SP
)

func TestStackSwitchesAreFound(t *testing.T) {
	for _, c := range []struct {
		what, code string
		switches   bool
	}{
		{"a frame", "\x48\x83\xec\x18" + "\x48\x8d\x6c\x24\x10" + "\x48\x83\xc4\x18" + ret, false}, // SUBQ; LEAQ 16(SP), BP; ADDQ
		{"LEAVE and MOVQ BP, SP", movBPSP + "\xc9" + ret, false},
		{"LEAQ 8(SP), SP", "\x48\x8d\x64\x24\x08" + ret, false},
		{"ANDQ $~15, SP", "\x48\x83\xe4\xf0" + ret, false},
		{"SP from memory", movSPm + ret, true},
		{"SP from a register", movSPR12 + ret, true},
		{"there and back", movR12SP + movSPm + movSPR12 + ret, false},
		{"kept, but not taken back", movR12SP + movSPm + ret, true},
		{"LEAQ of elsewhere", "\x48\x8d\x60\x08" + ret, true}, // LEAQ 8(AX), SP
		{"XCHGQ SP, R15", "\x4c\x87\xfc" + ret, true},
		{"POPQ SP", "\x5c" + ret, true},
		{"POPQ R12", "\x41\x5c" + ret, false},
		{"IRETQ", "\x48\xcf", true},
		{"MOVQ AX, R12", "\x49\x89\xc4" + ret, false},
	} {
		f := &fake{}
		f.add("f", c.code)
		g := f.graph(t)
		why := g.SwitchesStacks(f.addr(0))
		if (why != "") != c.switches || c.switches && why != "switches stacks" {
			t.Errorf("%s: %q", c.what, why)
		}
	}
}

func TestWhatEndsInASwitchSwitches(t *testing.T) {
	f := &fake{}
	f.add("x/jumps", nop+f.jmp(1, 1))
	f.add("x/again", nop+f.jmp(1, 3))
	f.add("x/calls", f.call(0, 3)+ret)
	f.add("x/switch.abi0", movSPm+ret)
	f.add("runtime.goexit.abi0", nop+ret)
	g := f.graph(t)
	for i, want := range []string{"switches stacks (jumps -> again -> switch)", "switches stacks (again -> switch)", "", "switches stacks", "does not return to its caller"} {
		if why := g.SwitchesStacks(f.addr(i)); why != want {
			t.Errorf("%s: %q, want %q", f.names[i], why, want)
		}
	}
}
