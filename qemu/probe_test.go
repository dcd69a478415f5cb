package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/internal/image"
	"sonde/qemu/machine"
)

// target is what every "cat" calls twice per file, and from which the first
// few instructions lead straight on.
const target = "sonde/kernel/vfs.Read"

// code returns address and bytes of a function in the image that is tested.
func code(t *testing.T, name string) (uint64, []byte) {
	t.Helper()
	path, err := normalImage()
	if err != nil {
		t.Fatal(err)
	}
	info, err := image.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	sym, err := info.Symbols.Addr(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, sym.Size)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && sym.Addr >= p.Vaddr && sym.Addr+sym.Size <= p.Vaddr+p.Filesz {
			if _, err := p.ReadAt(b, int64(sym.Addr-p.Vaddr)); err != nil {
				t.Fatal(err)
			}
			return sym.Addr, b
		}
	}
	t.Fatalf("%s is not in the file", name)
	return 0, nil
}

// TestProbesWorkAtInstructionsAndNowhereElse puts kprobe_example on each of the
// first bytes of a function, as the image has them.
func TestProbesWorkAtInstructionsAndNowhereElse(t *testing.T) {
	runsBeside(t)
	const most = 24 // bytes; the command line has room for no more
	addr, text := code(t, target)
	begins := map[int]bool{}
	insn.Walk(text, func(off int, in insn.Inst) bool {
		begins[off] = true
		return off < most
	})
	var script strings.Builder
	for off := range most {
		fmt.Fprintf(&script, "echo @; dmesg -C; insmod kprobe_example offset=%d && cat /proc/version >/tmp/x && rmmod kprobe_example; dmesg | grep -c addr=%#x,\n", off, addr+uint64(off))
	}
	r := bootScript(t, normalImage, machine.Config{SMP: 2, Script: script.String()})
	answers := strings.Split(string(r.Stdout), "@\n")[1:]
	if len(answers) != most {
		t.Fatal(said(r))
	}
	for off, got := range answers {
		want := "4\n" // two calls, two handlers
		if !begins[off] {
			want = fmt.Sprintf("%s+%#x is inside an instruction\n0\n", target, off)
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("offset %d: %q, want %q", off, got, want)
		}
	}
}

// TestKallsymsIsTheImages: the kernel shows the table that the build put there.
func TestKallsymsIsTheImages(t *testing.T) {
	runsBeside(t)
	path, err := normalImage()
	if err != nil {
		t.Fatal(err)
	}
	info, err := image.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	info.Symbols.WriteTo(&want)
	r := bootScript(t, normalImage, machine.Config{Machine: "microvm", Script: "cat /proc/kallsyms"})
	// After it come the other names of these functions.
	rest, ok := bytes.CutPrefix(r.Stdout, want.Bytes())
	if !ok {
		t.Errorf("%d bytes, want %d; it begins\n%s", len(r.Stdout), want.Len(), r.Stdout[:min(len(r.Stdout), 300)])
	}
	for line := range bytes.Lines(rest) {
		if !bytes.HasSuffix(line, []byte("\t[alias]\n")) {
			t.Fatalf("%q is in no table", line)
		}
	}
}
