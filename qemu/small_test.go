package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/qemu/initrd"
	"sonde/qemu/machine"
)

// small are programs of testdata/programs, by what compiles them, with FILE for where to.
var small = map[string][]string{
	"dotted":   {"gcc", "-O1", "-static", "-o", "FILE", "testdata/programs/dotted.c"},
	"noexit":   {"gcc", "-O1", "-static", "-o", "FILE", "testdata/programs/noexit.c"},
	"sixty":    {"gcc", "-O1", "-static", "-o", "FILE", "testdata/programs/sixty.c"},
	"movable":  {"gcc", "-O1", "-static-pie", "-o", "FILE", "testdata/programs/sixty.c"},
	"vsyscall": {"gcc", "-O1", "-static", "-o", "FILE", "testdata/programs/vsyscall.c"},
	"mixed":    {"env", "CGO_ENABLED=1", "go", "build", "-ldflags=-linkmode=external -extldflags=-static", "-o", "FILE", "./testdata/programs/mixed"},
}

// smallArchive compiles them, and puts them into the kernel's /bin, and scripts into its root: s0, s1 and so on.
func smallArchive(t *testing.T, scripts []string) string {
	dir := t.TempDir()
	var a initrd.Archive
	add := func(file, guest string) {
		if err := a.Add(file + ":" + guest); err != nil {
			t.Fatal(err)
		}
	}
	for name, words := range small {
		file := filepath.Join(dir, name)
		words = strings.Split(strings.ReplaceAll(strings.Join(words, "\n"), "FILE", file), "\n")
		if err := command(words[0], words[1:]...); err != nil {
			t.Fatal(err)
		}
		add(file, "/bin/"+name)
	}
	for i, text := range scripts {
		file := filepath.Join(dir, fmt.Sprint("s", i))
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		add(file, fmt.Sprint("/s", i))
	}
	archive := filepath.Join(dir, "archive.cpio")
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := a.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	return archive
}

// ask is a script, and what is wanted of what it prints, lines joined: "!" before what must not be there.
type ask struct {
	script string
	wants  []string
}

// two is the first two arguments of a function of a program in /bin.
func two(file, function, want string) ask {
	return ask{fmt.Sprintf(`bt -q -e 'uprobe:/bin/%s:"%s" { printf("%%d %%d;", arg0, arg1); }' -c '/bin/%[1]s > /dev/null'`, file, function), []string{want}}
}

// TestConventions: a function's convention is its file's, whatever its name is.
func TestConventions(t *testing.T) {
	const add = "sonde/qemu/testdata/programs/mixed/asm.Add"
	askAll(t, []ask{
		two("dotted", "main._omp_fn.0", "1 51;2 52;"),
		two("dotted", "sum.avx2.0", "1 61;2 62;"),
		two("dotted", "lookup.llvm.15800189371373731370", "1 71;2 72;"),
		two("dotted", "*thing*", "1 81;2 82;"),
		two("mixed", "main.compiled", "0 200;1 200;2 200;"),
		two("mixed", "main.dotted.0", "0 300;1 300;2 300;"),
		two("mixed", add, "0 100;1 100;2 100;"),
		two("mixed", add+".abi0", "0 100;1 100;2 100;"),
		{"bt -q -e 'uretprobe:/bin/mixed:" + add + " { print(retval); }' -c mixed", []string{"ERROR: retval is not known at", "it is assembly of Go, which has arguments and results on the stack, not in registers"}},
		{"bt -q -e 'uprobe:/bin/mixed:runtime.* { print(arg0); }' -c mixed", []string{"ERROR: arg0 is not known at uprobe:/bin/mixed:runtime.*: the functions that fit have their arguments in different places"}},
	})
}

// TestReturnsWithoutExit: a return probe leaves the stack of a function alone that has no exit, or was entered without
// a return address.
func TestReturnsWithoutExit(t *testing.T) {
	askAll(t, []ask{
		{"bt -q -e 'uretprobe:/bin/noexit:_start { @ = count(); }' -c 'noexit; echo is $?'", []string{"is 1", "@: 0"}},
		{"bt -q -e 'uretprobe:/bin/noexit:ends { @ = count(); }' -c 'noexit ends; echo is $?'", []string{"is 3", "@: 0"}},
		{"bt -q -e 'uretprobe:/bin/noexit:top { @ = count(); }' -c 'noexit jumped; echo is $?'", []string{"is 42", "@: 0"}},
		{"bt -q -e 'uretprobe:/bin/noexit:passes { @ = count(); }' -c 'noexit tail; echo is $?'", []string{"is 43", "@: 0"}},
		{"bt -q -e 'uretprobe:/bin/noexit:top { @ = count(); } uretprobe:/bin/noexit:work { @work = count(); }' -c 'noexit; echo is $?'", []string{"is 1", "@work: 1"}},
		{"explain /bin/noexit:_start", []string{"by a breakpoint on its beginning alone (it has no exit, and does not return)"}},
	})
}

// TestVsyscallPage: programs call what is in the page at the end of all addresses, beside strace and probes too.
func TestVsyscallPage(t *testing.T) {
	const right = "0 1 1 0 1 ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]"
	askAll(t, []ask{
		{"vsyscall", []string{right}},
		{"strace vsyscall", []string{right[10:], "exit_group"}},
		{"bt -q -e 'uprobe:/bin/vsyscall:main { @[probe] = count(); } uretprobe:/bin/vsyscall:main { @[probe] = count(); }' -c vsyscall", []string{right, "@[uprobe:/bin/vsyscall:main]: 1", "@[uretprobe:/bin/vsyscall:main]: 1"}},
	})
}

// TestWatchInPrograms: the execution of a function of a program and the writes of a variable, by their names; and what is
// not seen is said.
func TestWatchInPrograms(t *testing.T) {
	askAll(t, []ask{
		{"kwatch x@/bin/noexit:work noexit; echo is $?", []string{"kwatch: x 0x", "work+0x0  thread", "is 1"}},
		{"kwatch x@/bin/noexit:nosuch noexit", []string{"kwatch: /bin/noexit: there is no function nosuch"}},
		{"kwatch x@/bin/noexit:work+0x400 noexit", []string{"offset 0x400 is beyond the end of work"}},
		{"kwatch x@/bin/noexit:work+1 noexit", []string{"work+0x1 is inside an instruction"}},
		{"kwatch -n 1 w@/bin/sixty:shared sixty", []string{"length 8", "0x0 → 0x1  ten+0x"}},
		{"bt -q -e 'watchpoint:/bin/sixty:shared:8:w { @ = count(); @last = max(watch.new); @pids[pid] = count(); }' -c 'sixty; sixty; sixty; sixty; sixty; sixty'",
			[]string{"@: 360", "@last: 60", "]: 60", "!unset"}}, // more than there are debug registers, one after the other
		{`bt -q -e 'watchpoint:"/bin/movable":shared:8:w { @[comm] = count(); }' -c 'movable; sixty'`, []string{"@[movable]: 60", "!sixty"}},
		{"bt -q -e 'watchpoint:printk.consoleLevel:4:w, watchpoint:printk.consoleLevel:2:w, watchpoint:printk.consoleLevel:1:w, watchpoint:printk.consoleLevel:4:w { } watchpoint:/bin/sixty:shared:8:w { @ = count(); }' -c sixty",
			[]string{"bt: watchpoint:/bin/sixty:shared:8:w: unset at 1 of its places in programs, where no hit is seen: ", "all debug registers are in use: 0 w sonde/kernel/printk.consoleLevel+0x0", "@: 0"}},
		{"bt -e 'watchpoint:/bin/sixty:nosuch:8:w { }'", []string{"there is no variable nosuch"}},
		{"bt -e 'watchpoint:/bin/sixty:shared+4:8:w { }'", []string{"must be a multiple of the length, 8"}},
		{"kwatch w@printk.consoleLevel dmesg -n 5", []string{"!locked instructions"}},
	})
	r := bootScript(t, normalImage, machine.Config{SMP: 2, Script: `kwatch rw@printk.consoleLevel cat /sys/kernel/debug/kwatch/list
		bt -e 'watchpoint:printk.consoleLevel:4:rw { @ = count(); }' -c true`})
	for _, want := range []string{"kwatch: locked instructions are not seen: QEMU's emulation of several CPUs", "[locked instructions not seen]", "bt: watchpoint:printk.consoleLevel:4:rw: locked instructions are not seen"} {
		if text := string(r.Stdout) + string(r.Log); !strings.Contains(text, want) {
			t.Errorf("no %q\n%s", want, said(r))
		}
	}
}

// askAll runs scripts on one machine, and on one with two processors.
func askAll(t *testing.T, asks []ask) {
	runsBeside(t)
	texts, runs := make([]string, len(asks)), make([]string, len(asks))
	for i, a := range asks {
		texts[i], runs[i] = a.script, fmt.Sprintf("(. /s%d)", i)
	}
	archive := smallArchive(t, texts)
	for _, smp := range []int{1, 2} {
		out, _, r := bootScripts(t, normalImage, machine.Config{SMP: smp, Initrd: archive}, runs)
		for i, a := range asks {
			got := strings.NewReplacer("\r", "", "\n", " ").Replace(out[i])
			for _, want := range a.wants {
				if text, not := strings.CutPrefix(want, "!"); strings.Contains(got, text) == not {
					t.Errorf("%d CPUs: %s\n%s\nwant %s", smp, a.script, out[i], want)
				}
			}
		}
		if t.Failed() {
			t.Log(said(r))
		}
	}
}
