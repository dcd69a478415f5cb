package main

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// debians returns the path of a program of a Debian package, or skips the test.
func debians(t *testing.T, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %s is not installed", path)
	}
	return path
}

// bpftrace boots a machine with Debian's bpftrace as it is, and runs commands on it.
func bpftrace(t *testing.T, commands []string, more ...string) string {
	t.Helper()
	args := []string{"-m", "1G", "-add", debians(t, "/usr/bin/bpftrace"), "-deps"}
	args = append(append(args, more...), "-c", strings.Join(commands, "; "))
	out, err := launch(t, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	return string(out)
}

// sees checks that all of wants are in the output, in this order.
func sees(t *testing.T, out string, wants ...string) {
	t.Helper()
	rest := out
	for _, want := range wants {
		at := regexp.MustCompile("(?m)" + want).FindStringIndex(rest)
		if at == nil {
			t.Errorf("no %s in\n%s", want, out)
			return
		}
		rest = rest[at[1]:]
	}
}

// TestBpftrace: what the documents show of Debian's bpftrace is what it prints.
func TestBpftrace(t *testing.T) {
	runsBeside(t)
	var commands []string
	for _, b := range shownBy(t) {
		for _, line := range b.lines {
			if command, ok := strings.CutPrefix(line, "sonde# "); ok {
				commands = append(commands, command)
			}
		}
	}
	out := bpftrace(t, commands)
	for _, b := range shownBy(t) {
		var output []string
		for _, line := range b.lines {
			if !strings.HasPrefix(line, "sonde# ") {
				output = append(output, line)
			}
		}
		b.find(t, masked(strings.Join(output, "\n")), masked(out))
	}
}

// killedAfter are seconds after which bpftrace is killed: it compiles, registers or counts. Each start of
// it takes seconds, and TestBpftraceKilled finds each of its calls: all but one are left to the long run.
func killedAfter() []string {
	if long() {
		return []string{"0.3", "0.7", "1", "1.3", "1.7", "2", "2.5", "3", "4"}
	}
	return []string{"1.7"}
}

// TestBpftraceCounts: its numbers are right at probes of all kinds, beside bt at the same place; and nothing is
// left of it, however it ends.
func TestBpftraceCounts(t *testing.T) {
	runsBeside(t)
	const cat = `-c '/bin/cat /tmp/hello' `
	commands := []string{
		`echo hello world > /tmp/hello`,
		`bpftrace --info`,
		`bpftrace -e 'BEGIN { exit() }'; echo began: $?`,
		`bpftrace ` + cat + `-e 'kprobe:vfs_read /comm == "cat"/ { @reads = count(); @most = max(arg2); } kretprobe:vfs_read /comm == "cat"/ { @bytes = sum(retval); } ` +
			`kfunc:vfs_read /comm == "cat"/ { @room = max(args->p_len); } kretfunc:vfs_read /comm == "cat" && args->p_len == 32768/ { @given = sum(retval); } ` +
			`tracepoint:syscalls:sys_exit_read /comm == "cat"/ { @ret[args->ret] = count(); } tracepoint:raw_syscalls:sys_enter /comm == "cat" && args->id == 231/ { @exits = count(); } ` +
			`tracepoint:syscalls:sys_enter_openat /comm == "cat"/ { @modes[args->mode] = count(); } tracepoint:syscalls:sys_enter_rt_sigprocmask /args->nset == 1/ { @sets = count(); } ` +
			`tracepoint:sched:sched_process_exit /comm == "cat"/ { printf("ended: %s\n", args->comm); } tracepoint:sched:sched_process_exec /str(args->filename) == "/bin/cat"/ { printf("began: %s\n", str(args->filename)); } software:page-faults:1 /comm == "cat"/ { @faults = count(); }'`,
		`bt -q -e 'kprobe:vfs.Read /comm == "cat"/ { @ours = count(); }' -c "bpftrace -c '/bin/cat /tmp/hello' -e 'kprobe:vfs_read /comm == \"cat\"/ { @theirs = count(); }'"`,
		`bpftrace -c '/usr/bin/env true' -e 'uprobe:/lib/x86_64-linux-gnu/libc.so.6:setlocale /comm == "env"/ { @calls = count(); } uretprobe:/lib/x86_64-linux-gnu/libc.so.6:setlocale /comm == "env"/ { @returns = count(); }'`,
		`bpftrace -e 'interval:ms:100 { @ticks = count(); } profile:hz:99 { @cpus[cpu] = count(); } interval:s:1 { exit(); }'`,
	}
	for _, after := range killedAfter() {
		commands = append(commands, `bpftrace -e 'kprobe:vfs_read { @[comm] = count(); } uprobe:/lib/x86_64-linux-gnu/libc.so.6:setlocale { @c = count(); } profile:hz:99 { @p = count(); }' & sleep `+after+`; kill -9 %1; wait`)
	}
	commands = append(commands, `echo all were killed; bpf prog; bpf map; cat /sys/kernel/debug/kprobes/list; cat /sys/kernel/debug/uprobes/list; echo nothing is left`)
	out := bpftrace(t, commands, "-add", debians(t, "/usr/bin/env"))
	sees(t, out, `kprobe: yes`, `tracepoint: yes`, `perf_event: yes`, `^began: 0`, `^began: /bin/cat`, `^ended: cat`, `^@bytes: 12`, `^@exits: 1`, `^@faults: [1-9]\d+`,
		`^@given: 12`, `^@modes\[0\]: [1-9]`, `^@most: 65536`, `^@reads: 3`, `^@ret\[(0|12)\]: [12]`, `^@ret\[(0|12)\]: [12]`, `^@room: 65536`, `^@theirs: 3`, `^@ours: 3`, `^@calls: (\d+)`, `^@returns: (\d+)`,
		`^@cpus\[`, `^@ticks: (8|9|10|11)\b`, `^nothing is left`)
	if left := regexp.MustCompile(`(?s)all were killed\r?\n(.*)nothing is left`).FindStringSubmatch(out); left == nil || strings.TrimSpace(left[1]) != "" {
		t.Errorf("killed, and left is %q", left)
	}
	calls := regexp.MustCompile(`@calls: (\d+)\s+@returns: (\d+)`).FindStringSubmatch(out)
	if calls == nil || calls[1] != calls[2] {
		t.Errorf("calls and returns of a library's function: %v", calls)
	}
}

// What bpftrace took on Linux 6.1, with the same program: docs/costs.md.
const (
	linuxFirst = 688_000 // us, since the boot
	linuxStart = 672_000 // us
	linuxEvent = 16_500  // ns
)

// TestBpftraceIsQuick: at one instruction for each ns, bpftrace starts and ends in at most half as much more time as
// on Linux, also the first time, when the kernel's types are unpacked; and an event is printed in no more time than on
// Linux.
func TestBpftraceIsQuick(t *testing.T) {
	runsBeside(t)
	if !long() {
		t.Skip("takes two minutes of processor time: for make long")
	}
	out := bpftrace(t, []string{"dmesg -n 1", "paced"}, "-accel", "counted", "-smp", "1", "-timeout", "15m", "-add", built(t, "paced")+":/bin/paced")
	starts, events := linuxStart*3/2, linuxEvent
	for what, most := range map[string][]int{`starts and ends in (\d+) us`: {linuxFirst * 3 / 2, starts, starts}, `an event takes (\d+) ns`: {math.MaxInt, events}} {
		all := regexp.MustCompile(what).FindAllStringSubmatch(out, -1)
		if len(all) != len(most) {
			t.Fatalf("%d lines %s in\n%s", len(all), what, out)
		}
		for i, m := range all {
			if n, err := strconv.Atoi(m[1]); err != nil || n > most[i] {
				t.Errorf("%s: at most %d", m[0], most[i])
			}
		}
		t.Log(all)
	}
	if strings.Contains(out, "lines of") {
		t.Errorf("events are lost:\n%s", out)
	}
}
