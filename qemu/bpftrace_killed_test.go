package main

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBpftraceKilled: bpftrace is killed at one of its system calls after the other, those of a run between those of
// others, by a script of another bpftrace. Nothing is left of any.
func TestBpftraceKilled(t *testing.T) {
	runsBeside(t)
	const calls = 1500 // that it makes
	kills := 2
	if long() {
		kills = 100
	}
	step := calls / kills
	first := rand.Intn(step)
	t.Logf("killed at call %d, and each %d further", step-first, step)
	loop := filepath.Join(t.TempDir(), "killed.sh")
	text := fmt.Sprintf(`for i in $(seq %d); do /tmp/inner -e 'kprobe:vfs_read { @[comm] = count(); } uprobe:/lib/x86_64-linux-gnu/libc.so.6:setlocale { @c = count(); } profile:hz:99 { @p = count(); } interval:ms:200 { exit(); }' > /dev/null; done`, kills)
	if err := os.WriteFile(loop, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := bpftrace(t, []string{
		"sysctl -w kernel.bpf_unsafe=1", "ln -s /usr/bin/bpftrace /tmp/inner",
		fmt.Sprintf(`bpftrace --unsafe -c '/bin/sh /tmp/killed.sh' -e 'tracepoint:raw_syscalls:sys_enter /comm == "inner"/ { if (@n[pid] == 0) { @runs++; @at[pid] = @runs * %d - %d; } @n[pid]++; if (@n[pid] == @at[pid]) { @killed++; signal("KILL"); } } END { clear(@n); clear(@at); }'`, step, first),
		"echo all were killed; bpf prog; bpf map; bpf link; cat /sys/kernel/debug/kprobes/list; cat /sys/kernel/debug/uprobes/list; echo nothing is left",
	}, "-timeout", "60m", "-add", loop+":/tmp/killed.sh")
	sees(t, out, fmt.Sprintf(`^@killed: ([%d-9]|\d\d+)\b`, min(kills/2, 9)), fmt.Sprintf(`^@runs: %d\b`, kills))
	if left := regexp.MustCompile(`(?s)all were killed\r?\n(.*)nothing is left`).FindStringSubmatch(out); left == nil || strings.TrimSpace(left[1]) != "" {
		t.Errorf("killed, and left is %q", left)
	}
}
