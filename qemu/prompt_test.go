package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestPrompt types at the serial console as a person does.
func TestPrompt(t *testing.T) {
	runsBeside(t)
	for _, m := range []string{"q35", "microvm"} {
		t.Run(m, func(t *testing.T) {
			c := startConsole(t, machine.Config{Machine: m, SMP: 2})
			c.see(`help lists the commands; Tab completes`)
			const try = "funccount -c 'cat /proc/version' 'vfs.*'"
			c.see(`(?m)^Try: ` + regexp.QuoteMeta(try) + `\r?$`)
			c.enter("echo a\x7fb") // backspace
			c.see(`(?m)^b\r?$`)
			c.enter("nosuchcommand")
			c.see(`nosuchcommand: command not found\r?\n`)
			c.enter("echo $?")
			c.see(`(?m)^127\r?$`)
			c.see(prompt)
			c.key("\x1b[A\x1b[A\r") // two lines up in the history
			c.see(`nosuchcommand: command not found`)
			c.enter("history")
			c.see(`1  echo b\r\n +2  nosuchcommand\r\n +3  echo \$\?`)
			c.see(prompt)
			c.key("cat /proc/vers\t")
			c.see(`cat /proc/version`)
			c.key("\r")
			c.see(`sonde version `)
			c.enter("help")
			fitsScreen(t, c.see(`(?m)^help probe: .*\r?$`))
			c.enter(try)
			c.see(`(?m)^@\[vfs\.Read\]: [1-9]\d*\r?$`)
			c.enter("poweroff")
			if r := c.wait(); r.Status != 0 || r.Crash {
				t.Error(said(r))
			}
		})
	}
}

// Colours at a terminal.
const red, green, cyan, plain = "\x1b\\[31m", "\x1b\\[32m", "\x1b\\[36m", "\x1b\\[m"

// TestColours: bars, tiers and errors have colours where they are shown, and nowhere else.
func TestColours(t *testing.T) {
	runsBeside(t)
	c := startConsole(t, machine.Config{SMP: 2, Append: "NO_COLOR="})
	const (
		hist    = `bt -q -e 'BEGIN { @ = hist(3); exit(); }'`
		mistake = `bt -q -e 'BEGIN { @ = arg0; }'`
		explain = `explain vfs.Read`
	)
	c.enter(hist)
	c.see(`\[2, 4\) +1 \|` + cyan + `@+` + plain + ` *\|`)
	c.enter(mistake)
	c.see(`stdin:1:13-17: ` + red + `ERROR:` + plain + `[^\n]*\n[^\n]*\n +` + red + `~~~~` + plain)
	c.enter(explain)
	c.see(`pre-handler +` + green + `JUMP` + plain + `   run as`)
	c.enter("cat /none1 /none2")
	c.see(red + `cat:` + plain + ` /none1: [^\r]*\r\n` + red + `cat:` + plain + ` /none2: `)
	for _, elsewhere := range []string{
		hist + " > /tmp/x; cat /tmp/x",
		explain + " | head -20",
		"NO_COLOR=1 " + hist,
		"(export NO_COLOR=1; " + mistake + "; " + explain + "; nosuchcommand)",
		mistake + " 2>&1 | cat; (cat /none; nosuchcommand) 2>&1 | cat",
	} {
		c.enter(elsewhere)
		c.see(`\r\n`) // the echo of the line, which the editor may draw anew
		if out := c.see(prompt); strings.Contains(out, "\x1b[") || len(out) < 50 {
			t.Errorf("%s: %q", elsewhere, out)
		}
		c.key("\r")
	}
	c.enter("poweroff")
	c.wait()
}

// fitsScreen: all lines that help prints, and a prompt. A command without a purpose would be under others.
func fitsScreen(t *testing.T, text string) {
	t.Helper()
	_, text, _ = strings.Cut(text, "help\r\n")
	lines := strings.Split(text, "\n")
	if len(lines) >= 25 || slices.ContainsFunc(lines, func(l string) bool { return len(strings.TrimSpace(l)) > 80 }) {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	for name, want := range map[string]bool{" zcat": true, " kwatch ": true, "others": false} {
		if strings.Contains(text, name) != want {
			t.Errorf("shows %q: %v\n%s", name, !want, text)
		}
	}
}

// TestCtrlC ends a command that runs, and a line that is being typed.
func TestCtrlC(t *testing.T) {
	runsBeside(t)
	c := startConsole(t, machine.Config{SMP: 2})
	c.enter("sleep 1000")
	c.see(`sleep 1000\r?\n`)
	c.key("\x03")
	c.see(`\^C`)
	c.enter("echo $?")
	c.see(`(?m)^130\r?$`)
	c.see(prompt)
	c.key("echo never\x03")
	c.enter("echo now")
	c.see(`(?m)^now\r?$`)
	c.enter("poweroff")
	if r := c.wait(); r.Status != 0 || r.Crash {
		t.Error(said(r))
	}
}

// TestInterrupts: what is typed arrives as interrupts, and /proc counts them.
func TestInterrupts(t *testing.T) {
	runsBeside(t)
	c := startConsole(t, machine.Config{SMP: 2})
	c.enter("cat /proc/interrupts")
	c.see(`CPU0 +CPU1 +\r?\n`)
	c.see(`(?m)^  4: +[1-9]\d* +\d+  IO-APIC   4-edge      ttyS0\r?\n`)
	c.see(`   Local timer interrupts\r?\n`)
	c.enter("poweroff")
	c.wait()
}
