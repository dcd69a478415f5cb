package inspect

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sonde/kernel/pci"
)

var update = flag.Bool("update", false, "write testdata/lspci.* anew")

// function is one of a dump.
type function struct {
	pci.Function
	pci.Config
	bytes []byte
}

// readDump reads what lspci -xxx has printed.
func readDump(t *testing.T, path string) (all []function) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(strings.TrimSpace(string(b)), "\n\n") {
		lines := strings.Split(block, "\n")
		f := function{}
		fmt.Sscanf(lines[0], "%x:%x.%x", &f.Bus, &f.Slot, &f.Func)
		for _, line := range lines[1:] {
			row, err := hex.DecodeString(strings.ReplaceAll(line[4:], " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			f.bytes = append(f.bytes, row...)
		}
		f.Config = func(at int) uint32 { return binary.LittleEndian.Uint32(f.bytes[at:]) }
		f.fill()
		all = append(all, f)
	}
	return all
}

// fill decodes the header, without the sizes, which no dump has.
func (f *function) fill() {
	h := pci.Header{}
	for i := range h.Words {
		h.Words[i] = f.U32(4 * i)
		h.Masks[i] = ^uint32(0xfff)
	}
	f.Vendor, f.Device = f.U16(0), f.U16(2)
	f.Revision, f.Interface, f.Class = f.U8(8), f.U8(9), f.U16(10)
	for _, r := range h.Regions() {
		r.Size = 0
		f.Regions = append(f.Regions, r)
	}
}

// ids is a pci.ids of the names that the kernel knows.
func ids() string {
	class := ""
	for line := range strings.Lines(classes) {
		if line[0] != '\t' {
			line = "C_" + line
		}
		class += strings.Replace(strings.Replace(line, " ", "  ", 1), "C_", "C ", 1)
	}
	makers := ""
	for line := range strings.Lines(vendors) {
		makers += strings.Replace(line, " ", "  ", 1)
	}
	return makers + class
}

// TestAsLspci: each way to show a dump of QEMU's devices, and of some that were made up, is what lspci
// prints of the same dump: by what it has printed once, and by asking it where it is installed.
func TestAsLspci(t *testing.T) {
	dump := filepath.Join("testdata", "lspci.x")
	all := readDump(t, dump)
	list := filepath.Join(t.TempDir(), "pci.ids")
	if err := os.WriteFile(list, []byte(ids()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args           string
		numbers, level int
		bytes          int
	}{{"", 0, 0, 0}, {"-n", 1, 0, 0}, {"-nn", 2, 0, 0}, {"-v", 0, 1, 0}, {"-nv", 1, 1, 0}, {"-vv", 0, 2, 0}, {"-x", 0, 0, pci.HeaderSize}, {"-nnvvxxx", 2, 2, pci.ConfigSize}} {
		t.Run(c.args, func(t *testing.T) {
			got := ""
			for _, f := range all {
				got += (&Names{Numbers: c.numbers}).Show(f.Function, f.Config, c.level, c.bytes)
			}
			known := filepath.Join("testdata", "lspci"+c.args)
			if *update {
				if err := os.WriteFile(known, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(known)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, string(want))
			if _, err := exec.LookPath("lspci"); err != nil {
				return
			}
			out, err := exec.Command("lspci", append(strings.Fields(c.args), "-i", list, "-F", dump)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, withoutMoreOfExpress(string(out)))
		})
	}
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d:\n%s\nwant\n%s", i+1, strings.Join(g[min(i, len(g)):min(i+3, len(g))], "\n"), strings.Join(w[min(i, len(w)):min(i+3, len(w))], "\n"))
		}
	}
}

// withoutMoreOfExpress leaves out what Details does not show.
func withoutMoreOfExpress(text string) string {
	var kept []string
	out := false
	for _, line := range strings.Split(text, "\n") {
		depth := len(line) - len(strings.TrimLeft(line, "\t"))
		if depth < 3 {
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			out = depth == 2 && slices.Contains([]string{"DevCap", "DevCap2", "DevCtl2", "LnkCtl", "LnkCap2", "LnkCtl2", "LnkSta2",
				"SltCap", "SltCtl", "SltSta", "RootCap", "RootCtl", "RootSta"}, name)
		}
		if !out && line != "\t\tNot readable" { // the vital product data, after a register that is to be written
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// TestSlots: which functions -s selects, and what it refuses.
func TestSlots(t *testing.T) {
	at := pci.Function{Bus: 1, Slot: 0x1f, Func: 2}
	for text, want := range map[string]bool{"": true, "1f": true, "1f.2": true, ".2": true, "1:": true, "01:1f": true, "0000:01:1f.2": true, "1:*.*": true, ":": true,
		"1e": false, "1f.3": false, "0:": false, "0:1f": false} {
		if s, err := ParseSlot(text); err != nil || s.Has(at) != want {
			t.Error(text, err)
		}
	}
	for _, text := range []string{"20", "100:", "1f.8", "zz", "1:1:1:1", "1:00:1f.2", "-1", ".x"} {
		if _, err := ParseSlot(text); err == nil {
			t.Error(text, "is no slot")
		}
	}
}

// TestWildConfigs: any content is shown, or not, and no loop has no end.
func TestWildConfigs(t *testing.T) {
	seed := uint32(1)
	for range 3000 {
		f := function{bytes: make([]byte, pci.ConfigSize)}
		for i := range f.bytes {
			seed = seed*1664525 + 1013904223
			f.bytes[i] = byte(seed >> 24)
		}
		f.bytes[0x0e] &= 0x81
		f.Config = func(at int) uint32 { return binary.LittleEndian.Uint32(f.bytes[at:]) }
		f.fill()
		new(Names).Show(f.Function, f.Config, 2, pci.ConfigSize)
	}
}
