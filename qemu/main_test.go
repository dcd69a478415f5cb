package main

import (
	"bytes"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args     []string
		script   string
		scripted bool
		timeout  time.Duration
		ok       bool
	}{
		{nil, "", false, 0, true},
		{[]string{"-c", "ls"}, "ls", true, scriptTimeout, true},
		{[]string{"-c", "ls", "-timeout", "5s"}, "ls", true, 5 * time.Second, true},
		{[]string{"-c", "ls", "-gdb"}, "ls", true, 0, true},
		{[]string{"-c", "ls", "-timeout", "0"}, "ls", true, 0, true},
		{[]string{"-test"}, "ktest", true, testTimeout, true},
		{[]string{"-test", "-c", "ktest sched"}, "ktest sched", true, testTimeout, true},
		{[]string{"-test", "-timeout", "5s"}, "ktest", true, 5 * time.Second, true},
		{[]string{"-c", ""}, "", true, 0, false},
		{[]string{"ls"}, "", false, 0, false},
		{[]string{"-accel", "xen"}, "", false, 0, false},
		{[]string{"-nope"}, "", false, 0, false},
		{[]string{"-c", "ls", "--", "-device", "e1000"}, "ls", true, scriptTimeout, true},
		{[]string{"-c", "ls", "ls", "--", "-device", "e1000"}, "", true, 0, false},
		{[]string{"-c", "ls", "--"}, "ls", true, scriptTimeout, true},
	} {
		o, err := parse(c.args, io.Discard)
		if (err == nil) != c.ok || c.ok && (o.Script != c.script || o.scripted != c.scripted || o.Timeout != c.timeout) {
			t.Errorf("parse %q: %+v, %v", c.args, o, err)
		}
	}
}

func TestArgumentsBehindDashesAreForQEMU(t *testing.T) {
	o, err := parse([]string{"-cpu", "qemu64", "--", "-device", "e1000", "--", "x"}, io.Discard)
	if want := []string{"-device", "e1000", "--", "x"}; err != nil || !slices.Equal(o.Extra, want) || o.CPU != "qemu64" {
		t.Errorf("%q, %q, %v", o.Extra, o.CPU, err)
	}
}

func TestScriptsThatPrintTheLog(t *testing.T) {
	for script, want := range map[string]bool{
		"dmesg": true, "insmod x; dmesg": true, "a && dmesg -l 3 ; b": true, "a\ndmesg\n": true, "dmesg -c": true,
		"dmesg | grep x": false, "dmesg > f": false, "dmesg -n 1": false, "dmesg -C": false, "echo dmesg": false, "": false,
	} {
		if got := printsLog.MatchString(script); got != want {
			t.Errorf("%q: %v", script, got)
		}
	}
}

// TestWrongArguments: whatever cannot be run as it is meant ends with status 2,
// at once, and the reason names what was asked for.
func TestWrongArguments(t *testing.T) {
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-m", "1M"}, "memory 1M: the kernel is loaded at 64 MiB and needs 96 MiB at least"},
		{[]string{"-m", "1024K"}, "memory 1024K: the kernel is loaded at 64 MiB"}, // did hang
		{[]string{"-m", "0.09g"}, "memory 0.09g: the kernel"},
		{[]string{"-m", ""}, `memory "": give a number`},
		{[]string{"-m", "-512"}, `memory "-512": give a number`},
		{[]string{"-m", "512,slots=2"}, `memory "512,slots=2": give a number`},
		{[]string{"-m", "1X"}, `memory "1X": give a number`},
		{[]string{"-smp", "-1"}, "-1 processors: the kernel runs on 1 to 32"},
		{[]string{"-smp", "0"}, "0 processors"},
		{[]string{"-smp", "33"}, "33 processors"},
		{[]string{"-smp", "many"}, `invalid value "many" for flag -smp`},
		{[]string{"-machine", "vax"}, `machine "vax": it must be q35, pc or microvm`},
		{[]string{"-machine", ""}, `machine ""`},
		{[]string{"-timeout", "-5s"}, "timeout -5s"},
		{[]string{"-append", "x -- y"}, `command line "x -- y"`}, // did replace the script
		{[]string{"-append", `x="y`}, "quotes must be closed"},   // did swallow it
		{[]string{"-uefi"}, "UEFI: add -stick, since it boots from a stick, a CD or the network only"},
		{[]string{"-from", "cd"}, "-from needs -stick"},
		{[]string{"-noprobe", "-test"}, "-noprobe excludes -test and -bt"},
		{[]string{"-noprobe", "-bt", "BEGIN { exit() }"}, "-noprobe excludes -test and -bt"},
		{[]string{"-bt", "BEGIN { exit() }", "-format", "flame"}, "-format flame: -o says where to"},
		{[]string{"-bt", "BEGIN { exit() }", "-against", "x"}, "-against is for -format flame"},
		{[]string{"-stick", "-from", "tape"}, `boot from "tape": it must be cd, usb or net`},
		{[]string{"-stick", "-machine", "microvm"}, "machine microvm: it has no firmware"},
		{[]string{"-accel", "xen"}, `accelerator "xen"`},
		{[]string{"-c", ""}, "the script is empty"},
		{[]string{"-c", strings.Repeat("x", machine.MaxCommandLine)}, "at most 4095 fit"},
		{[]string{"-initrd", "/no/such/file"}, "initrd: stat /no/such/file: no such file"},
		{[]string{"-initrd", "/dev/null"}, "initrd /dev/null: not a file"},
		{[]string{"-deps"}, "-deps needs -add"},
		{[]string{"-add", "/no/such/file"}, "-add: /no/such/file: cannot be added"},
		{[]string{"-nope"}, "qemu: flag provided but not defined: -nope (-h lists the options)\n"},
		{[]string{"ls"}, `unexpected argument "ls"`},
	} {
		args := c.args
		if args[0] != "-c" {
			args = append([]string{"-c", "true"}, args...)
		}
		cmd := exec.Command(path, args...)
		cmd.Env = []string{"PATH=/nonexistent"} // so it cannot build, which would say what it does
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != machine.StatusUsage || !strings.Contains(stderr.String(), c.says) || bytes.Count(stderr.Bytes(), []byte("\n")) > 1 {
			t.Errorf("%.40q: status %d, want %d and %q\n%s", c.args, got, 2, c.says, &stderr)
		}
	}
}
