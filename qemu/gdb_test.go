package main

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestGDBStopsInAHandler starts gdb as the launcher says. It stops in a handler, finds the sources, and
// its backtrace continues after the trap to the probed function and its callers; also after the
// detour of a jump, and from a return handler to where the function returns to.
func TestGDBStopsInAHandler(t *testing.T) {
	runsBeside(t)
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bootLimit)
	defer cancel()
	machine := exec.CommandContext(ctx, path, "-gdb", "-smp", "1", "-image", imagePath(t, normalImage),
		"-c", "insmod kprobe_example symbol=vfs.Read; cat /proc/version; rmmod kprobe_example;"+
			"insmod kretprobe_example func=vfs.Read; sleep 1; cat /proc/uptime")
	said := newScreen()
	machine.Stdout, machine.Stderr, machine.Dir = said, said, ".."
	if err := machine.Start(); err != nil {
		t.Fatal(err)
	}
	defer machine.Wait()
	defer cancel()
	args := append(gdbCommand(t, said)[1:], "-nx", "-batch", "-ex", "hbreak 'sonde/examples.handlerPre'", "-ex", "continue", "-ex", "x/2i 'sonde/kernel/vfs.Read'", "-ex", "bt", "-ex", "print *regs",
		"-ex", "frame function 'sonde/shell/coreutils.(*IO).copyOut'", "-ex", "info goroutines",
		"-ex", "delete", "-ex", "hbreak 'sonde/examples.entryHandler'", "-ex", "continue", "-ex", "bt", // by a jump
		"-ex", "delete", "-ex", "hbreak 'sonde/examples.retHandler'", "-ex", "continue", "-ex", "bt", "-ex", "kill")
	gdb := exec.CommandContext(ctx, "gdb", args...)
	gdb.Dir = ".."
	out, err := gdb.CombinedOutput()
	if err != nil {
		t.Errorf("gdb: %v", err)
	}
	at := 0
	for _, want := range []string{
		`47\tfunc handlerPre\(p \*kprobes\.Kprobe, regs \*amd64\.Regs\) int \{\n`, // it has found the source
		`#0  sonde/examples\.handlerPre \(p=0x.* at sonde/examples/kprobe_example\.go:\d+\n`,
		`in sonde/arch/amd64/trap\.known \(\) at sonde/arch/amd64/trap/lean_amd64\.s:\d+\n`,
		`in sonde/kernel/vfs\.Read \(f=0x.* at sonde/kernel/vfs/io\.go:\d+\n`,
		`in sonde/kernel/vfs\.\(\*File\)\.Read \(f=0x.* at sonde/kernel/vfs/io\.go:\d+\n`,
		`in sonde/shell/coreutils\.\(\*IO\)\.copyOut \(u=0x.* at sonde/shell/coreutils/print\.go:\d+\n`,
		`in runtime\.goexit \(\) at runtime/asm_amd64\.s:\d+\n`,
		`\$1 = {R15 = 0x[0-9a-f]+, .* IP = 0xffffffff8[0-9a-f]+, CS = 0x8, Flags = 0x[0-9a-f]+, `,
		`\n\d+\t+n, err := r\.Read\(buf\)\n`, // the frame's line
		`  \d+ waiting  runtime\.forcegchelper\n`,
		`  \d+ waiting  sonde/optprobe\.\(\*worker\)\.run \[kprobe-optimizer\]\n`,
		`\* \d+ running   \[script\]\n`,
		`#0  sonde/examples\.entryHandler \(.* at sonde/examples/kretprobe_example\.go:\d+\n`,
		`#\d+  0x[0-9a-f]+ in \?\? \(\)\n`, // the detour
		`in sonde/kernel/vfs\.Read \(f=0x.* at sonde/kernel/vfs/io\.go:\d+\n`,
		`in sonde/shell/coreutils\.\(\*IO\)\.copyOut \(u=0x.* at sonde/shell/coreutils/print\.go:\d+\n`,
		`in runtime\.goexit \(\) at runtime/asm_amd64\.s:\d+\n`,
		`#0  sonde/examples\.retHandler \(`,
		`in sonde/kernel/vfs\.\(\*File\)\.Read \(f=0x.* at sonde/kernel/vfs/`, // where vfs.Read returns to
		`in sonde/shell/coreutils\.\(\*IO\)\.copyOut \(u=0x.* at sonde/shell/coreutils/print\.go:\d+\n`,
	} {
		where := regexp.MustCompile(want).FindIndex(out[at:])
		if where == nil {
			t.Fatalf("gdb does not show %s\n%s\n%s", want, out, said.text())
		}
		at += where[0]
	}
	for _, b := range shownBy(t) {
		b.find(t, inGDB(strings.Join(b.lines, "\n")), inGDB(string(out)))
	}
}

// gdbCommand waits until the launcher says how to start gdb.
func gdbCommand(t *testing.T, said *screen) []string {
	t.Helper()
	said.await(t, "waiting for gdb", 1)
	line := regexp.MustCompile(`(?m)^  (gdb .*)$`).FindStringSubmatch(said.text())
	if line == nil {
		t.Fatalf("no command for gdb:\n%s", said.text())
	}
	return strings.Fields(line[1])
}

// inGDB returns the stable part of lines that gdb prints: the function and the file of each frame,
// the instruction at a symbol, the state of a goroutine that waits: gdb has no word for one that runs while
// the collector looks at its stack.
func inGDB(text string) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^(?:#\d+ .*?(sonde/\S+) \(.* at (\S+):\d+|.*<(sonde/\S+)>:\s+(\S+)|[ *]+\d+ (\w+) +(\S+)(?: \[.*\])?)$`).FindAllStringSubmatch(text, -1) {
		if m[5] != "running" {
			list = append(list, strings.Join(m[1:], " "))
		}
	}
	return list
}
