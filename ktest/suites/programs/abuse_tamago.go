//go:build tamago

package programs

import (
	"bytes"
	"fmt"
	"hash/crc64"
	"io"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"sonde/kernel/mm"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/linux/proc"
)

func init() {
	suites.Add("programs/random_calls", random)
	suites.Add("programs/corrupt_files", corrupt)
	suites.Add("programs/ten_thousand_corrupt_files", func(t *suites.T) {
		t.NeedsLong()
		need(t, "corrupt")
		for seed := range 100 {
			succeeds(t, fmt.Sprintf("corrupt %d 100 /bin/hello", 100+seed))
		}
	})
	suites.Add("programs/million_random_calls", func(t *suites.T) {
		t.NeedsLong()
		need(t, "random")
		succeeds(t, "random 3 1000000")
	})
	suites.Add("programs/bombs_end_at_limits", bombs)
	suites.Add("programs/panics_kill_the_program_only", panics)
}

// unchanging returns a checksum of all that no program may change: text, constants, symbols. Where
// text has probes, which others may set and remove meanwhile, it takes the image's bytes.
func unchanging() uint64 {
	table := crc64.MakeTable(crc64.ECMA)
	sum := crc64.Checksum(kprobes.Original(mm.Text.Start, mm.Text.End-mm.Text.Start), table)
	for _, r := range []mm.Range{mm.ROData, mm.Symbols} {
		b := unsafe.Slice((*byte)(unsafe.Pointer(r.Start)), r.End-r.Start) // Safe because: boot mapped it, and it stays
		sum = crc64.Update(sum, table, b)
	}
	return sum
}

// kernelLog is what dmesg prints.
func kernelLog() string {
	var log bytes.Buffer
	suites.Script(&log, "dmesg")
	return log.String()
}

// succeeds runs a line that must end with status 0, must change nothing, and must not
// find a bug.
func succeeds(t *suites.T, line string) {
	suites.Script(io.Discard, "dmesg -C")
	before := unchanging()
	out, status := run(t, line)
	if status != 0 {
		t.Errorf("%s: status %d\n%s", line, status, out)
	}
	if unchanging() != before {
		t.Errorf("%s: kernel memory is not what it was", line)
	}
	if log := kernelLog(); strings.Contains(log, "BUG") {
		t.Errorf("%s: a bug\n%s", line, tail(log, 40))
	}
	t.Logf("%s: %s", line, out)
}

// random makes system calls with random arguments: they return results and errors, and nothing else
// happens.
func random(t *suites.T) {
	need(t, "random")
	for _, seed := range []int{1, 2} {
		succeeds(t, fmt.Sprintf("random %d %d", seed, suites.Rounds(8000, 8000)))
	}
}

// corrupt starts programs with corrupt headers: they run, are refused, or end.
func corrupt(t *suites.T) {
	need(t, "corrupt")
	succeeds(t, fmt.Sprintf("corrupt 1 %d /bin/hello", suites.Rounds(60, 60)))
}

// bombs starts programs that take more and more of something: they are stopped, and other programs
// continue.
func bombs(t *suites.T) {
	need(t, "greedy")
	for _, c := range []struct{ line, want string }{
		{"greedy forks 40", "fork: Resource temporarily unavailable\n0 children left\n"},
		{"greedy threads 40", "pthread_create: Resource temporarily unavailable\n"},
		{"greedy descriptors 20", "open: Too many open files after 19\npipe: 24\npipe with room for one: 24\ndup: 3\n"},
		{"greedy memory 0x2000000", "mmap: Cannot allocate memory\nstatus 7, signal 0\n"},
		{"greedy memory", "status 0, signal 9\n"},
		{"greedy reading", "ended: yes\n"},
		{"greedy file", "write: no space\n"},
		{"greedy stack", "recursion: signal 11\n"},
		{"greedy stack 0x100000", "recursion: signal 11\n"},
		{"greedy crash 0x1234", "signal 11\n"},
	} {
		if out, status := run(t, c.line); out != c.want || status != 0 {
			t.Errorf("%s: status %d\ngot  %q\nwant %q", c.line, status, out, c.want)
		}
		if out, _ := run(t, "hello"); !strings.HasPrefix(out, "0: hello\n") {
			t.Errorf("hello after %s: %q", c.line, out)
		}
	}
	line := regexp.MustCompile(`greedy\[\d+\]: segfault at 1234 ip [0-9a-f]{16} sp [0-9a-f]{16} error 6 in greedy\[401000\+[0-9a-f]+\]\n`)
	t.Until("the line about a fault, which is left out when there are many", func() bool {
		if line.MatchString(kernelLog()) {
			return true
		}
		run(t, "greedy crash 0x1234")
		time.Sleep(time.Second)
		return false
	})
	logged(t, `Out of memory: Killed process \d+ \(greedy\) total-vm:\d+kB, rss:\d+kB, pgtables:\d+kB\n`)
}

// logged looks for a line in the kernel's log.
func logged(t *suites.T, pattern string) {
	if log := kernelLog(); !regexp.MustCompile(pattern).MatchString(log) {
		t.Errorf("the log has no line %s:\n%s", pattern, tail(log, 20))
	}
}

func tail(s string, lines int) string {
	all := strings.Split(s, "\n")
	return strings.Join(all[max(len(all)-lines, 0):], "\n")
}

// System calls that exist only in this test.
const (
	callBug = 777 + iota
	callNil
	callIndex
)

// panics: a bug of the kernel in a system call ends the program that made the call.
func panics(t *suites.T) {
	need(t, "greedy")
	table := suites.Programs
	handle := table.Syscall
	defer func() { table.Syscall = handle }()
	table.Syscall = func(th *proc.Thread) {
		var none *[16]int
		switch n := th.Regs().AX; n {
		case callBug:
			panic("a bug for the test")
		case callNil:
			none[3]++
		case callIndex:
			th.CPU().FP()[n*n] = 1
		}
		handle(th)
	}
	for n := callBug; n <= callIndex; n++ {
		if out, status := run(t, fmt.Sprint("greedy call ", n)); out != "signal 9\n" || status != 0 {
			t.Errorf("call %d: status %d, %q", n, status, out)
		}
	}
	others(t)
	logged(t, `BUG: a bug for the test in call 777 of greedy\[\d+\], which is killed\n`)
	logged(t, `BUG: .*nil pointer dereference in call 778`)
	logged(t, `BUG: .*index out of range.* in call 779`)
}

// broken is a file with a bug in its Close or in its Read.
type broken struct{ inClose bool }

func (broken) Stat() vfs.Info                     { return vfs.Info{Mode: 0444} }
func (b broken) Open(int) (vfs.Handle, error)     { return b, nil }
func (broken) WriteAt([]byte, int64) (int, error) { return 0, syscall.EBADF }

func (b broken) ReadAt([]byte, int64) (int, error) {
	if b.inClose {
		return 0, io.EOF
	}
	panic("a bug in reading")
}

func (b broken) Close() error {
	if b.inClose {
		panic("a bug in closing")
	}
	return nil
}

// others: programs that share a file with one that a bug has killed continue.
func others(t *suites.T) {
	for name, b := range map[string]broken{"/tmp/broken": {}, "/tmp/unclosable": {true}} {
		if err := vfs.Bind(name, b); err != nil {
			t.Fatalf("%v", err)
		}
		defer vfs.Root.Unbind(name)
	}
	const line = `/bin/sh -c '{ cat; echo $?; cat; echo $?; } </tmp/broken; cat /tmp/unclosable; echo $?'`
	if out, status := run(t, line); out != strings.Repeat("Killed\n137\n", 3) || status != 0 {
		t.Errorf("%s: status %d, %q", line, status, out)
	}
	logged(t, `BUG: a bug in reading in call 0 of cat`)
	logged(t, `BUG: a bug in closing in `)
}
