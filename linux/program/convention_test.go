package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sonde/arch/amd64/goabi"
)

// TestConvention: of this program, which is compiled by Go, with the runtime's assembly.
func TestConvention(t *testing.T) {
	f := self(t)
	for name, want := range map[string]goabi.Convention{
		"sonde/linux/program.target": goabi.Regs,
		"runtime.memmove":            goabi.Regs,  // ABIInternal
		"internal/cpu.cpuid":         goabi.Stack, // ABI0, declared in Go
		"runtime.rt0_go":             goabi.Stack,
		"gogo":                       goabi.Asm,
	} {
		s, err := f.Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := f.Convention(s.Addr + 1); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if got := f.Convention(1); got != goabi.C {
		t.Errorf("before all functions: %d", got)
	}
}

// mixed is a program in Go with a package in assembly, and with C.
func mixed(t *testing.T) *File {
	t.Helper()
	out := filepath.Join(t.TempDir(), "mixed")
	c := exec.Command("go", "build", "-o", out, "../../qemu/testdata/programs/mixed")
	c.Env = append(os.Environ(), "CGO_ENABLED=1")
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return open(t, out)
}

// TestConventionOfMixed: a function of C in a Go program is C's, though its name has a dot. The name that the
// linker has given one of Go's finds it, and does not make it two.
func TestConventionOfMixed(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc")
	}
	f := mixed(t)
	const add = "sonde/qemu/testdata/programs/mixed/asm.Add"
	for name, want := range map[string]goabi.Convention{"main.compiled": goabi.Regs, "main.dotted.0": goabi.C, add: goabi.Stack, add + ".abi0": goabi.Stack} {
		s, err := f.Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := f.Convention(s.Addr); got != want || s.Go != (want != goabi.C) {
			t.Errorf("%s: %d, want %d; %+v", name, got, want, s)
		}
	}
	for _, s := range f.Functions() {
		if s.Name == add+".abi0" {
			t.Errorf("%+v is another function", s)
		}
	}
}
