package printk

import (
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// clock stands still unless a test moves it: nobody has waited for too long.
var clock atomic.Int64

// flooded is a console on which every line shown finds another logged, as by a
// CPU that logs without end. It calls at with the number of the line.
func flooded(t *testing.T, at func(line int)) (lines *int) {
	fresh(t)
	clock.Store(1)
	timeBy(clock.Load)
	var tasks atomic.Uintptr // each call another: nobody logs on top of another
	SetTask(func() uintptr { return tasks.Add(1) })
	lines = new(int)
	showOn(func([]byte) {
		*lines++
		at(*lines)
		if *lines < 2*turn {
			Info("another")
		}
	})
	return lines
}

var cpu1 = func() int { return 1 }

// onCPU1 has f run on another CPU than that of the caller, and returns when it
// waits for the console or is done, which done tells.
func onCPU1(f func()) (done chan struct{}) {
	cpuHook.Store(&cpu1)
	defer cpuHook.Store(nil)
	done = make(chan struct{})
	go func() { defer close(done); f() }()
	for !awaited() {
		select {
		case <-done:
			return done
		case <-time.After(time.Millisecond):
		}
	}
	return done
}

func another() { Info("of another CPU") }

func TestWhoShowedAScreenfulIsRelieved(t *testing.T) {
	var done chan struct{}
	lines := flooded(t, func(line int) {
		switch owner := consoleOwner.Load() & ownerMask; {
		case line == turn+1:
			done = onCPU1(another)
		case owner != 1 && line <= turn, owner != 2 && line > turn:
			t.Errorf("line %d shown by CPU %d", line, int(owner)-1)
		}
	})
	Info("the first")
	if done == nil {
		t.Fatal("not shown to the screenful")
	}
	<-done
	if *lines < 2*turn {
		t.Errorf("%d lines", *lines)
	}
	if v := consoleOwner.Load(); v != 0 {
		t.Errorf("owner %#x", v)
	}
}

func TestNobodyWaitsForWhoHasJustBegun(t *testing.T) {
	lines := flooded(t, func(line int) {
		if line == turn/2 {
			onCPU1(another)
			if awaited() {
				t.Error("waits")
			}
		}
	})
	Info("the first")
	if *lines < turn/2 {
		t.Errorf("%d lines", *lines)
	}
}

// TestInterruptsDoNotWait: what they interrupted may be at the console.
func TestInterruptsDoNotWait(t *testing.T) {
	lines := flooded(t, func(line int) {
		if line == turn+1 {
			SetTask(func() uintptr { return 0 })
			onCPU1(another)
			if awaited() {
				t.Error("waits")
			}
		}
	})
	Info("the first")
	if *lines <= turn {
		t.Errorf("%d lines", *lines)
	}
}

// TestNextOneWaitsBeforeThisOneLooks: a CPU that gets the console may be stopped for long before it
// looks, while another begins to wait for it. It used to take that for a Flush and go away, and the
// console was nobody's for good.
func TestNextOneWaitsBeforeThisOneLooks(t *testing.T) {
	fresh(t)
	SetTask(func() uintptr { return 1 })
	cpuHook.Store(&cpu1)
	consoleOwner.Store(1)
	consoleShown.Store(turn)
	consoleStuck.Store(math.MaxUint64)
	readings := 0
	timeBy(func() int64 {
		if readings++; readings == 2 { // it waits
			release()
			consoleOwner.Or(3 << 16)
		}
		return 1
	})
	if !relieve() {
		t.Error("the CPU that has got the console does not take it")
	}
	if readings != 2 || consoleOwner.Load() != 3<<16|2 {
		t.Errorf("the clock was read %d times, owner %#x", readings, consoleOwner.Load())
	}
	consoleOwner.Store(0)
	consoleShown.Store(0)
}

// TestWaitingEnds: who is at the console does not get on, so the next does not wait.
func TestWaitingEnds(t *testing.T) {
	lines := flooded(t, func(line int) {
		if line != turn+1 {
			return
		}
		done := onCPU1(another)
		if !awaited() {
			t.Error("does not wait")
		}
		clock.Add(relieveWithin + 1)
		<-done
		onCPU1(another)
		if awaited() {
			t.Error("waits once more")
		}
	})
	Info("the first")
	if *lines <= turn {
		t.Errorf("%d lines", *lines)
	}
}

func TestRescueOfWhoWaits(t *testing.T) {
	fresh(t)
	for _, c := range []struct {
		owner, rescued, want uint32
		sp                   uintptr
	}{
		{2<<16 | 1, 1, 1, 500}, {2<<16 | 1, 0, 2, 500}, {2<<16 | 1, 2, 2<<16 | 1, 500}, {1, 0, 0, 400}, {0, 0, 0, 0},
		{1, 0, 1, 600}, {1, 0, 1, 399}, {1, 0, 0, 0}, // who was interrupted; not noted yet
	} {
		consoleOwner.Store(c.owner)
		consoleStack.Store(c.sp)
		Rescue(int(c.rescued), 400, 600)
		if v := consoleOwner.Load(); v != c.want {
			t.Errorf("%#x at %d, CPU %d rescued: %#x, want %#x", c.owner, c.sp, c.rescued, v, c.want)
		}
	}
	consoleOwner.Store(0)
	leaveConsole()
}

// TestRescueShowsWhatIsLeft: the abandoned one was writing a record, and another
// CPU has left one to it.
func TestRescueShowsWhatIsLeft(t *testing.T) {
	fresh(t)
	var out strings.Builder
	showOn(func(p []byte) { out.Write(p) })
	consoleOwner.Store(1)
	consoleStack.Store(500)
	log.claim(log.next.Add(1) - 1)
	cpuHook.Store(&cpu1)
	Info("of another CPU")
	cpuHook.Store(nil)
	if out.Len() > 0 {
		t.Fatalf("shown: %s", out.String())
	}
	Rescue(0, 400, 600)
	if got := out.String(); !strings.Contains(got, "of another CPU") {
		t.Errorf("shown: %q", got)
	}
}

// TestFilteredRecordsCount: who steps over them for long is relieved, too.
func TestFilteredRecordsCount(t *testing.T) {
	flooded(t, func(int) {})
	Debug("not shown")
	if n := consoleShown.Load(); n != 1 {
		t.Errorf("%d are counted", n)
	}
}
