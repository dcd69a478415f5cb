package printk

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// fresh empties the log and takes all hooks off, before and after the test.
func fresh(t *testing.T) {
	t.Helper()
	reset := func() {
		log = ring{}
		consoleHook.Store(nil)
		clockHook.Store(nil)
		cpuHook.Store(nil)
		taskHook.Store(nil)
		consoleTask.Store(0)
		consoleStuck.Store(0)
		consoleLevel.Store(0)
		consoleNext.Store(0)
		consoleUnseen = 0
		cleared.Store(0)
	}
	reset()
	t.Cleanup(reset)
}

func dmesg(t *testing.T, max Level) string {
	t.Helper()
	var b bytes.Buffer
	if err := Dmesg(&b, max); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRecordKeepsLevelTimeCPUAndText(t *testing.T) {
	fresh(t)
	timeBy(func() int64 { return 1234567890 })
	cpu := func() int { return 3 }
	cpuHook.Store(&cpu)
	Warn("cpu %d on fire\n", 3)
	for rec := range Records() {
		if rec.Level != LevelWarning || rec.CPU != 3 || rec.Time != 1234567890 || string(rec.Text()) != "cpu 3 on fire" {
			t.Errorf("got %v %v %v %q", rec.Level, rec.CPU, rec.Time, rec.Text())
		}
	}
	if got, want := dmesg(t, LevelDebug), "[    1.234567] cpu 3 on fire\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDmesgLeavesOutWhatIsLessUrgent(t *testing.T) {
	fresh(t)
	Err("bad")
	Debug("chatter")
	if got := dmesg(t, LevelErr); strings.Contains(got, "chatter") || !strings.Contains(got, "bad") {
		t.Errorf("got %q", got)
	}
}

func TestEachLineOfAMessageIsStamped(t *testing.T) {
	fresh(t)
	Info("one\ntwo\n\n")
	if got, want := dmesg(t, LevelDebug), "[    0.000000] one\n[    0.000000] two\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	Clear()
	Info("")
	if got, want := dmesg(t, LevelDebug), "[    0.000000] \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongMessageIsCutAndMarked(t *testing.T) {
	fresh(t)
	var lens []int
	for _, n := range []int{127, 128, 129, 1000, 1024, 1025, 5000} {
		Info("%s", strings.Repeat("x", n))
	}
	last := ""
	for rec := range Records() {
		lens = append(lens, len(rec.Text()))
		last = string(rec.Text())
	}
	if got, want := fmt.Sprint(lens), "[127 128 129 1000 1024 1024 1024]"; got != want {
		t.Errorf("lengths %s, want %s", got, want)
	}
	if !strings.HasSuffix(last, "xxx...") {
		t.Errorf("a cut message ends in %q", last[len(last)-8:])
	}
}

func TestOldRecordsMakeRoomAndAreCounted(t *testing.T) {
	fresh(t)
	const n = slotCount + 100
	for i := range n {
		Info("%d", i)
	}
	first, count := "", 0
	for rec := range Records() {
		if count == 0 {
			first = string(rec.Text())
		}
		count++
	}
	if first != "100" || count != slotCount {
		t.Errorf("first %q of %d records, want \"100\" of %d", first, count, slotCount)
	}
	if s := ReadStats(); s.Overwritten != 100 || s.Dropped != 0 {
		t.Errorf("stats %+v, want 100 overwritten", s)
	}
}

func TestConsoleGetsEarlierMessagesOnce(t *testing.T) {
	fresh(t)
	Info("early")
	Debug("hidden")
	var out bytes.Buffer
	showOn(func(p []byte) { out.Write(p) })
	Info("late")
	if got, want := out.String(), "[    0.000000] early\n[    0.000000] late\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if SetConsoleLevel(0) == nil || SetConsoleLevel(9) == nil {
		t.Error("bad console levels are taken")
	}
	out.Reset()
	if err := SetConsoleLevel(8); err != nil {
		t.Fatal(err)
	}
	Debug("shown")
	if !strings.Contains(out.String(), "shown") {
		t.Error("level 8 hides debug messages")
	}
}

// The console function is interrupted by a handler that logs, as by an NMI.
func TestMessageFromInsideTheConsoleComesAfter(t *testing.T) {
	fresh(t)
	var out bytes.Buffer
	nested := false
	showOn(func(p []byte) {
		if !nested {
			nested = true
			Err("nested")
		}
		out.Write(p)
	})
	Info("outer")
	if got, want := out.String(), "[    0.000000] outer\n[    0.000000] nested\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLevelsAreReadByNumberAndName(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Level
		ok   bool
	}{{"0", LevelEmerg, true}, {"7", LevelDebug, true}, {"warn", LevelWarning, true}, {"8", 0, false}, {"", 0, false}} {
		got, err := ParseLevel(tt.in)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%q: got %v, %v", tt.in, got, err)
		}
	}
}

func BenchmarkPrintk(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		Info("probe %s hit %d at %#x", "vfs.Read", i, 0x401000)
	}
}

// showOn and timeBy replace what Boot was given.
func showOn(f func(p []byte)) { Boot(clockHook.Load(), cpuHook.Load(), &f) }
func timeBy(f func() int64)   { Boot(&f, cpuHook.Load(), consoleHook.Load()) }
