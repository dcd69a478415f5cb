package main

import (
	"regexp"
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
	c.enter(`bt --self -e 'kprobe:runtime.mallocgc { printf("each line makes more\n"); }'`) // without end
	c.see(`(each line makes more\r?\n){100}`)
	c.key("\x03")
	c.see(`\^C`)
	c.enter("poweroff")
	if r := c.wait(); r.Status != 0 || r.Crash {
		t.Error(said(r))
	}
}

// TestArgumentsOfCopies: a mutex that copies of sync.(*Mutex).Unlock have as an argument is that of the function
// which they call next.
func TestArgumentsOfCopies(t *testing.T) {
	runsBeside(t)
	r := bootScript(t, normalImage, machine.Config{Script: `bt -q -e 'inline:sync.(*Mutex).Unlock { @m[goid] = args.m; }
		kprobe:internal/sync.(*Mutex).Unlock /@m[goid]/ { if (@m[goid] == arg0) { @right = count(); } else { @wrong = count(); } delete(@m[goid]); }
		END { clear(@m); }' -c '/bin/cat /proc/uptime > /dev/null'`})
	if out := string(r.Stdout); !regexp.MustCompile(`(?ms)^@right: [0-9]{2,}\r?$.*^@wrong: 0\r?$`).MatchString(out) {
		t.Error(out)
	}
	if all := string(r.Stdout) + string(r.Log); !strings.Contains(all, " copies, and the function: at the others, the program ends at once") {
		t.Error(all)
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
				if command, ok := strings.CutPrefix(line, "sonde# "); ok {
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
