package main

import (
	"slices"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestBtEndsByInterrupt: ^C ends a script. END runs, the maps are printed, and nothing is left.
func TestBtEndsByInterrupt(t *testing.T) {
	runsBeside(t)
	c := startConsole(t, machine.Config{})
	c.enter(`bt -e 'kprobe:vfs.Read { @ = count(); } interval:ms:100 { printf("tick\n"); } END { printf("bye\n"); }'`)
	c.see(`(?m)^Attached 3 probes\r?$`)
	c.see(`(?m)^tick\r?$`)
	c.key("\x03")
	c.see(`(?m)^bye\r?$`)
	c.enter("bpf prog; bpf map; cat /sys/kernel/debug/kprobes/list; echo left: $?")
	if out := c.see(`(?m)^left: 0\r?$`); strings.Contains(out, "bt1") || strings.Contains(out, "vfs.Read") {
		t.Errorf("something is left:\n%s", out)
	}
	c.enter(`bt -e 'kprobe:runtime.mallocgc { printf("each line makes more\n"); }'`) // without end
	c.see(`(each line makes more\r?\n){100}`)
	c.key("\x03")
	c.see(`\^C`)
	c.enter("poweroff")
	if r := c.wait(); r.Status != 0 || r.Crash {
		t.Error(said(r))
	}
}

// TestOneLiners: what the documents show of a script, a line with the command and then what comes out, is
// what it prints. A machine runs as many as its command line has room for.
func TestOneLiners(t *testing.T) {
	runsBeside(t)
	for part := range slices.Chunk(shownBy(t), 10) {
		scripts, shown := make([]string, len(part)), make([]string, len(part))
		for i, b := range part {
			for _, line := range b.lines {
				if command, ok := strings.CutPrefix(line, "/ # "); ok {
					scripts[i] += command + "\n"
				} else {
					shown[i] += line + "\n"
				}
			}
		}
		out, _, _ := bootScripts(t, normalImage, machine.Config{}, scripts)
		for i, b := range part {
			b.find(t, masked(shown[i]), masked(out[i]))
		}
	}
}
