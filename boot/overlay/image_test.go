package overlay_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/internal/image"
)

// imagesOf builds the kernel, with and without its tests.
func imagesOf(t *testing.T) map[string]*elf.File {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: builds the kernel")
	}
	all := map[string]*elf.File{}
	for _, o := range []image.BuildOptions{{}, {Test: true}} {
		path, err := image.Build(o)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		all[filepath.Base(path)] = f
	}
	return all
}

// realSystemCalls are the functions that may hold a SYSCALL or SYSENTER: none that is
// executed.
var realSystemCalls = map[string]bool{
	"sonde/ktest/suites/targets.refused.abi0": true, // instructions that probes must refuse
	"sonde/ktest/suites/user.calls":           true, // code for ring 3
	"sonde/ktest/suites/user.based":           true,
	"sonde/ktest/suites/programs.keeps":       true,
}

// vdso is how the names of the functions begin that are copied to programs.
const vdso = "sonde/linux/vdso."

// TestNoRealSystemCallInTheImage reads every instruction of the image: in a kernel,
// a system call of its own is an invalid opcode.
func TestNoRealSystemCallInTheImage(t *testing.T) {
	for name, f := range imagesOf(t) {
		text := f.Section(".text")
		code, err := text.Data()
		if err != nil {
			t.Fatal(err)
		}
		syms, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, s := range syms {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Value < text.Addr || s.Value+s.Size > text.Addr+uint64(len(code)) {
				continue
			}
			fn := code[s.Value-text.Addr:][:s.Size]
			insn.Walk(fn, func(off int, in insn.Inst) bool {
				read++
				if isSystemCall(&in) && !realSystemCalls[s.Name] && !strings.HasPrefix(s.Name, vdso) {
					t.Errorf("%s: %s+%#x is a system call", name, s.Name, off)
				}
				return true
			})
		}
		t.Logf("%s: %d instructions", name, read)
		if read < 100_000 {
			t.Errorf("%s: only %d instructions read", name, read)
		}
	}
}

// isSystemCall reports whether in is SYSCALL (0F 05) or SYSENTER (0F 34).
func isSystemCall(in *insn.Inst) bool {
	return in.Map == insn.Map0F && (in.Opcode == 0x05 || in.Opcode == 0x34)
}

func TestSystemCallsAreRecognized(t *testing.T) {
	for code, want := range map[string]bool{
		"\x0f\x05": true, "\x0f\x34": true, "\x48\x0f\x05": true,
		"\x0f\x07": false, "\x05\x00\x00\x00\x00": false, "\x0f\x0b": false,
	} {
		in, err := insn.Decode([]byte(code))
		if err != nil || isSystemCall(&in) != want {
			t.Errorf("% x: %v (%v), want %v", code, isSystemCall(&in), err, want)
		}
	}
}

// TestNothingLargeInTheImage: crypto used to bring a variable of 32 MiB, which every
// loader clears. The image with the tests has such a package.
func TestNothingLargeInTheImage(t *testing.T) {
	const most = 1 << 20
	for name, f := range imagesOf(t) {
		syms, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		crypto := false
		for _, s := range syms {
			crypto = crypto || strings.HasPrefix(s.Name, "crypto/sha256.")
			if elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Size > most {
				t.Errorf("%s: %s has %d bytes", name, s.Name, s.Size)
			}
		}
		if strings.Contains(name, "test") && !crypto {
			t.Errorf("%s has no crypto", name)
		}
	}
}

const tamago = "github.com/usbarmory/tamago/"

// drivers are the packages of TamaGo's that must compile with the overlay. Not its
// boards, each of which is a kernel of its own.
var drivers = []string{"amd64/...", "bits/...", "dma/...", "kvm/...", "soc/intel/..."}

// TestTamagoDriversCompile compiles them all; that they link and work is tried in
// QEMU (suite library).
func TestTamagoDriversCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: compiles a library")
	}
	var patterns []string
	for _, d := range drivers {
		patterns = append(patterns, tamago+d)
	}
	list := strings.Fields(goCommand(t, "list", patterns...))
	for _, want := range []string{"amd64", "amd64/lapic", "dma", "kvm/virtio", "soc/intel/pci", "soc/intel/ioapic"} {
		if !slices.Contains(list, tamago+want) {
			t.Errorf("%s is not among %q", want, list)
		}
	}
	goCommand(t, "build", list...)
}

// goCommand runs the go command as the kernel is built, and returns what it prints.
func goCommand(t *testing.T, verb string, args ...string) string {
	t.Helper()
	cmd, err := image.Go(verb, args...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// TestDependenciesAreDocumented: docs/dependencies.md lists what is in the image, and
// go.mod says what we import ourselves.
func TestDependenciesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, linked []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z.]+/[^`]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	for _, pkg := range strings.Fields(goCommand(t, "list", "-deps", "./boot")) {
		if first, _, _ := strings.Cut(pkg, "/"); strings.Contains(first, ".") {
			linked = append(linked, pkg)
		}
	}
	slices.Sort(listed)
	slices.Sort(linked)
	if !slices.Equal(listed, linked) {
		t.Errorf("docs/dependencies.md lists %q\nthe image has %q", listed, linked)
	}
	mods := goCommand(t, "list", "-m", "-f", "{{.Path}} {{.Indirect}}", "all")
	for _, mod := range []string{"github.com/usbarmory/tamago", "golang.org/x/arch"} {
		if !strings.Contains(mods, mod+" false\n") {
			t.Errorf("go.mod does not require %s directly:\n%s", mod, mods)
		}
	}
}
