package program

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"sonde/probe/attach"
)

// formatted is what helpFormat makes of words, in room bytes.
func formatted(room int, format string, args ...uint64) (string, int) {
	makeScratch()
	to, data := make([]byte, room+1), []byte{}
	to[room] = 'E'
	for _, v := range args {
		data = append(data, key8(v)...)
	}
	data = append(data, 0)
	n := helpFormat(wordOf(to), uintptr(room), wordOf([]byte(format+"\x00")), wordOf(data), uintptr(8*len(args)), 0, 0, &attach.Hit{})
	if to[room] != 'E' {
		return "more than there is room", 0
	}
	s, _, _ := strings.Cut(string(to[:room]), "\x00")
	return s, int(n)
}

// TestFormatIsC: what the conversions make is what fmt makes, which has C's for these.
func TestFormatIsC(t *testing.T) {
	for _, flags := range []string{"", "5", "-5", "05", "-05", "20", "020", "1"} {
		for _, v := range []uint64{0, 1, 12345678, 1<<63 + 5, ^uint64(0), 1<<31 + 1} {
			for letter, arg := range map[string]any{"d": int32(v), "i": int32(v), "u": uint32(v), "x": uint32(v), "X": uint32(v),
				"ld": int64(v), "llu": v, "lx": v, "llX": v} {
				goes := strings.NewReplacer("l", "", "i", "d", "u", "d").Replace(letter)
				f := strings.Replace(flags, "-0", "-", 1) // 0 has no meaning then
				want := fmt.Sprintf("<%"+f+goes+">", arg)
				if got, n := formatted(100, "<%"+flags+letter+">", v); got != want || n != len(want)+1 {
					t.Errorf("%%%s%s of %#x: %q, %d, want %q", flags, letter, v, got, n, want)
				}
			}
		}
	}
}

func TestFormatOfTexts(t *testing.T) {
	name := uint64(wordOf([]byte("vfs.Read\x00")))
	long := uint64(wordOf([]byte(strings.Repeat("0123456789", 20) + "\x00")))
	for _, c := range []struct {
		room   int
		format string
		args   []uint64
		want   string
		n      int
	}{
		{64, "100%% of %s", []uint64{name}, "100% of vfs.Read", 17},
		{64, "%pks %pus", []uint64{name, name}, "vfs.Read vfs.Read", 18},
		{64, "%-10s|%c|%3c|", []uint64{name, 'a', 'b'}, "vfs.Read  |a|  b|", 18},
		{64, "%p %20p", []uint64{0xc000, 1}, "0xc000                  0x1", 28},
		{8, "%s!", []uint64{name}, "vfs.Rea", 10},
		{4, "%d", []uint64{123456}, "123", 7},
		{0, "%d", []uint64{123456}, "", 7},
		{256, "%s", []uint64{long}, strings.Repeat("0123456789", 20), 201},
		{64, "%900d", []uint64{1}, strings.Repeat(" ", 63), 65},
	} {
		if got, n := formatted(c.room, c.format, c.args...); got != c.want || n != c.n {
			t.Errorf("%q in %d bytes: %q, %d, want %q, %d", c.format, c.room, got, n, c.want, c.n)
		}
	}
}

func TestBadFormats(t *testing.T) {
	for _, c := range []struct {
		format string
		args   []uint64
	}{{"%d", nil}, {"%", nil}, {"%l", []uint64{1}}, {"%n", []uint64{1}}, {"%f", []uint64{1}}, {"%s %s", []uint64{0}}, {"%*d", []uint64{1, 2}}} {
		if c.args != nil && c.args[0] == 0 {
			c.args[0] = uint64(wordOf([]byte("x\x00")))
		}
		if got, n := formatted(64, c.format, c.args...); n != -int(syscall.EINVAL) {
			t.Errorf("%q of %d words: %q, %d", c.format, len(c.args), got, n)
		}
	}
	if n := helpFormat(0, 0, wordOf([]byte("\x00")), 0, 7, 0, 0, nil); n != result(syscall.EINVAL) {
		t.Errorf("7 bytes of words: %d", int(n))
	}
	if n := helpFormat(0, 0, wordOf([]byte("\x00")), 0, 8*(most+1), 0, 0, nil); n != result(syscall.EINVAL) {
		t.Errorf("too many words: %d", int(n))
	}
}

// noProcess is a hit in code that runs for no process.
var noProcess = &attach.Hit{Place: &attach.Place{Site: &attach.Site{}}}

// TestWhoRuns: a command that runs a program is a process with a name; hits have none where no process is.
func TestWhoRuns(t *testing.T) {
	by := func(kind attach.Kind, who string) *attach.Hit {
		return &attach.Hit{Place: &attach.Place{Site: &attach.Site{Kind: kind}, Link: &attach.Link{Options: attach.Options{Owner: who}}}}
	}
	for _, c := range []struct {
		hit  *attach.Hit
		comm string
		pid  uintptr
	}{{noProcess, "kernel", 0}, {by(attach.Call, "bt"), "bt", 4194304}, {by(attach.Tick, "bt"), "kernel", 0}, {by(attach.Call, ""), "kernel", 0}} {
		name := make([]byte, 16)
		helpComm(wordOf(name), 16, 0, 0, 0, 0, 0, c.hit)
		if got := strings.Trim(string(name), "\x00"); got != c.comm {
			t.Errorf("comm %q, want %q", got, c.comm)
		}
		if id := helpPID(0, 0, 0, 0, 0, 0, 0, c.hit); id>>32 != c.pid || uint32(id) != 4194304 {
			t.Errorf("%s: process %d, thread %d, want process %d", c.comm, id>>32, uint32(id), c.pid)
		}
	}
}

// TestSaid: texts come as lines, with who said them; what is no format says nothing, and what nobody reads
// is lost.
func TestSaid(t *testing.T) {
	makeScratch()
	if err := canSay(); err != nil {
		t.Fatal(err)
	}
	before := Unsaid()
	hello := []byte("hello %d, %d\n\x00")
	if n := helpPrint(wordOf(hello), uintptr(len(hello)), 5, 7, 0, 0, 2, noProcess); n != 12 {
		t.Errorf("%d bytes", int(n))
	}
	helpPrint(wordOf([]byte("%q")), 2, 5, 7, 0, 0, 2, noProcess)
	if got, ok := Said(); !ok || got != "          kernel-4194304 [002]     0.000000: bpf_trace_printk: hello 5, 7" {
		t.Errorf("%q", got)
	}
	if got, ok := Said(); ok {
		t.Errorf("%q", got)
	}
	long := []byte(strings.Repeat("x", 400) + "\x00")
	n := 0
	for ; helpPrint(wordOf(long), uintptr(len(long)), 0, 0, 0, 0, 0, noProcess) == maxSaid; n++ {
	}
	if Unsaid() != before+1 {
		t.Errorf("%d are lost", Unsaid()-before)
	}
	for ; n > 0; n-- {
		if got, ok := Said(); !ok || !strings.HasSuffix(got, " "+strings.Repeat("x", maxSaid-1)) {
			t.Fatalf("%q", got)
		}
	}
}
