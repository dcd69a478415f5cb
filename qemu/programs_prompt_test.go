package main

import (
	"regexp"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestProgramsAtThePrompt types to programs: ^C and ^Z reach the one in the foreground,
// a shell of the programs' has jobs of its own, and the kernel's shell gets the
// terminal back, whatever a program has made of it.
func TestProgramsAtThePrompt(t *testing.T) {
	runsBeside(t)
	p := buildPrograms(t)
	c := startConsole(t, machine.Config{SMP: 2, Initrd: p.archive})
	c.enter("busybox cat")
	c.see(`busybox cat\r\n`)
	c.key("some line\r")
	c.see(`some line\r\n(?s:.*)some line\r\n`)
	c.key("\x04") // the end of the input
	c.enter("busybox sleep 1000")
	c.see(`sleep 1000\r\n`)
	c.key("\x03")
	c.enter("echo $?")
	c.see(`(?m)^130\r?$`)
	c.enter("busybox sleep 1000")
	c.see(`sleep 1000\r\n`)
	c.key("\x1a")
	c.see(`\[1\]\+  Stopped                 busybox sleep 1000`)
	c.enter("jobs")
	c.see(`\[1\]\+  Stopped                 busybox sleep 1000`)
	c.enter("ps")
	c.see(`    PID CPU TTY      STAT   TIME COMMAND\r\n +\d+   - console  T      0:00 busybox sleep 1000\r\n`)
	c.enter("fg")
	c.see(`fg\r\nbusybox sleep 1000\r\n`)
	c.key("\x03")
	c.enter("busybox sh")
	sub := `[/~] # (\x1b\[[0-9;?]*[A-Za-z])*$`
	c.see(sub)
	c.key("echo $((6*7))\r")
	c.see(`\n42\r\n`)
	c.see(sub)
	c.key("busybox sh -c 'echo u''p; exec busybox sleep 1000'\r")
	c.see(`\nup\r\n`) // it has the terminal: before that ^Z would be the shell's
	c.key("\x1a")
	c.see(`\[1\]\+  Stopped`)
	c.see(sub)
	c.key("bg; jobs; kill %1; wait; echo over\r")
	c.see(`\nover\r\n`)
	c.see(sub)
	c.key("busybox stty raw -echo; exit 3\r")
	c.enter("echo $?")
	c.see(`echo \$\?\r\n3\r\n`)
	useScreens(t, c)
	useBash(c)
	c.enter("poweroff")
	if r := c.wait(); r.Status != 0 || r.Crash {
		t.Error(said(r))
	}
}

// useScreens uses programs that draw on the screen: an editor, a list that is drawn again
// and again, a pager.
func useScreens(t *testing.T, c *console) {
	c.enter("busybox vi /tmp/note")
	c.see(`/tmp/note`)
	c.key("ione line")
	c.see(`\x1b\[1;9H`) // the cursor is after it; vi may have drawn each letter alone
	c.key("\x1b")
	c.see(`Modified`)
	c.key(":wq\r")
	c.enter("cat /tmp/note")
	c.see(`note\r\none line\r\n`)
	c.enter("myprog -every 1000s >/dev/null &")
	pid := regexp.MustCompile(`\[1\] (\d+)`).FindStringSubmatch(c.see(`\[1\] \d+\r\n`))[1]
	c.enter("busybox top")
	c.see(`Mem: +\d+K used, +\d+K free`)
	c.see(`CPU: +[\d.]+% usr`)
	c.see(pid + ` +1 root +S .*myprog`)
	c.key("q")
	c.enter("kill -9 %1; wait; ps")
	if text := c.see(`NAME`); strings.Contains(text, "myprog -every 1000s\r") {
		t.Errorf("killed, and still there: %s", text)
	}
	c.enter("busybox seq 1 1000 | busybox less")
	c.see(`K22\r\n`)
	c.key(" ")
	c.see(`K44\r\n`)
	c.key("q")
}

// useBash is Debian's shell with job control.
func useBash(c *console) {
	c.enter("bash")
	sub := `bash-[\d.]+# $`
	c.see(sub)
	c.key(`dash -c 'echo u""p; exec sleep 1000'` + "\r")
	c.see(`\nup\r\n`)
	c.key("\x1a")
	c.see(`\[1\]\+  Stopped +dash`)
	c.see(sub)
	c.key("bg; cat &\r")
	c.see(`\[1\]\+ dash .* &\r\n`)
	c.see(sub)
	c.key("jobs\r")
	c.see(`\[1\]-? +Running +dash`)
	c.see(sub)
	c.key("echo $COLUMNS $LINES; kill %1 %2; fg %2; exit 9\r")
	c.see(`80 24\r\n`)
	c.enter("echo $?")
	c.see(`echo \$\?\r\n9\r\n`)
}

// TestInteractiveShellInAScript: bash with job control has the terminal in a script of -c, alone and in a pipe. It used
// to stop for ever.
func TestInteractiveShellInAScript(t *testing.T) {
	runsBeside(t)
	out, err := launch(t, "-add", debians(t, "/bin/bash"), "-deps", "-c", `bash -ic 'echo one'; echo "echo two; sleep 0.1 & wait; exit 3" | bash -i; echo status $?; echo end`).CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	sees(t, string(out), `^one\r?$`, `^two\r?$`, `Done +sleep 0.1`, `^status 3\r?$`, `^end\r?$`)
}
