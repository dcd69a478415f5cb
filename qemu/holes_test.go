package main

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestHoles: memory that the map leaves out is not used, and the kernel says so where it cannot do
// without. GRUB's cutmem removes it from the map, except what GRUB needs itself.
func TestHoles(t *testing.T) {
	runsBeside(t)
	for _, c := range []struct {
		name string
		cut  []string
		says string // "": it boots
	}{
		// Where the recorder is otherwise, right after, and where other CPUs start.
		{"around the image", []string{"0x1000000 0x4000000", behindImage(t), "0x8000 0xa000"}, ""},
		{"inside it", []string{"0x4200000 0x4300000"}, "sonde: boot failed: a part of the image is not in memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cut string
			for _, part := range c.cut {
				cut += "cutmem " + part + "\n"
			}
			r := bootScript(t, normalImage, machine.Config{From: machine.USB, SMP: 2, GRUB: cut,
				Script: "echo alive; lscpu | grep 'CPU(s):'"})
			out, log := string(r.Stdout), string(r.Log)
			if c.says != "" {
				if r.Status != machine.StatusCrash || !strings.Contains(log, c.says) {
					t.Errorf("it does not say %q\n%s", c.says, said(r))
				}
				return
			}
			if r.Crash || !strings.HasPrefix(out, "alive\n") || number(out, `CPU\(s\): +(\d+)`) != 2 ||
				!strings.Contains(log, "flight: no memory is free for a record of this boot") {
				t.Error(said(r))
			}
		})
	}
}

// TestManyHoles: a map of more ranges than the kernel keeps is cut, and the log says so.
func TestManyHoles(t *testing.T) {
	runsBeside(t)
	const most = 64 // handoff.MaxRegions
	var cut strings.Builder
	for i := range most {
		start := 96<<20 + i*2*4096
		fmt.Fprintf(&cut, "cutmem %#x %#x\n", start, start+4096)
	}
	r := bootScript(t, normalImage, machine.Config{From: machine.USB, GRUB: cut.String(), Script: "echo alive"})
	if out, log := string(r.Stdout), string(r.Log); out != "alive\n" || !strings.Contains(log, "more than the kernel keeps") {
		t.Error(said(r))
	}
}

// behindImage is where the 16 MiB after the image lie, from the next page on.
func behindImage(t *testing.T) string {
	t.Helper()
	f, err := elf.Open(imagePath(t, normalImage))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var end uint64
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			end = max(end, p.Paddr+p.Memsz)
		}
	}
	end = (end + 0xfff) &^ 0xfff
	return fmt.Sprintf("%#x %#x", end, end+16<<20)
}
