package glass

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"sonde/arch/amd64"
)

func film(t *testing.T, want uint64, cpu int) *Film {
	t.Helper()
	f, err := New(want, cpu)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// TestOneHitIsClaimed: of hits on several CPUs at once exactly one is recorded, the one asked for.
func TestOneHitIsClaimed(t *testing.T) {
	f := film(t, 500, -1)
	var claimed atomic.Int32
	var wg sync.WaitGroup
	for cpu := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 1000 {
				if f.Claim(cpu, uint64(1000*cpu+i+1)) {
					claimed.Add(1)
				}
			}
		}()
	}
	wg.Wait()
	if claimed.Load() != 1 || f.Seen() != 4000 {
		t.Errorf("%d claimed, %d seen", claimed.Load(), f.Seen())
	}
}

// TestClaimIsOfAGoroutine: the frames are of the goroutine that had the wanted hit, and of no other.
func TestClaimIsOfAGoroutine(t *testing.T) {
	f := film(t, 2, -1)
	if f.Claim(0, 7) || f.Of(7) || f.Of(0) {
		t.Error("the first hit is recorded")
	}
	if !f.Claim(1, 8) || !f.Of(8) || f.Of(7) {
		t.Error("the second hit is not recorded")
	}
	if f.Claim(1, 8) {
		t.Error("a third hit is recorded")
	}
}

// TestClaimedEarly: a function that grows its stack begins again, perhaps on another CPU; other
// goroutines may come first.
func TestClaimedEarly(t *testing.T) {
	f := film(t, 1, -1)
	if !f.Early(0, 7) || f.Early(0, 7) || f.Seen() != 0 {
		t.Error("claimed twice, or counted")
	}
	if f.Claim(0, 8) || f.Of(7) {
		t.Error("another goroutine's hit is recorded")
	}
	if !f.Claim(1, 7) || !f.Of(7) {
		t.Error("the hit is not recorded")
	}
	if later := film(t, 3, -1); later.Early(0, 7) {
		t.Error("a hit is claimed before those in front of it have come")
	}
}

func TestOnOneCPU(t *testing.T) {
	f := film(t, 1, 1)
	if f.Early(0, 7) || f.Claim(0, 7) || f.Seen() != 0 {
		t.Error("a hit on another CPU counts")
	}
	if !f.Claim(1, 7) {
		t.Error("a hit on the CPU is not recorded")
	}
}

func TestFullFilmCountsWhatIsLost(t *testing.T) {
	f := film(t, 1, -1)
	for i := range Frames + 5 {
		frame, n := f.Next()
		if (frame == nil) != (i >= Frames) {
			t.Fatalf("frame %d: %v", i, frame != nil)
		}
		if frame != nil {
			frame.Note[0] = uint64(i)
			f.Written(n)
		}
	}
	frames, lost := f.Recorded()
	if len(frames) != Frames || lost != 5 || frames[Frames-1].Note[0] != Frames-1 {
		t.Errorf("%d frames, %d lost", len(frames), lost)
	}
}

// TestUnwrittenFrameIsNotShown: a frame is read while it is filled in.
func TestUnwrittenFrameIsNotShown(t *testing.T) {
	f := film(t, 1, -1)
	_, first := f.Next()
	f.Next()
	f.Written(first)
	if frames, _ := f.Recorded(); len(frames) != 1 {
		t.Errorf("%d frames", len(frames))
	}
}

func TestEightFilms(t *testing.T) {
	for range Most {
		film(t, 1, -1)
	}
	if _, err := New(1, -1); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("one more: %v", err)
	}
	if _, err := New(0, -1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("hit 0: %v", err)
	}
}

func TestClosedTwice(t *testing.T) {
	f := film(t, 1, -1)
	f.Close()
	f.Close()
	if n := films.Load(); n != 0 {
		t.Errorf("%d films in use", n)
	}
}

func TestRegisters(t *testing.T) {
	r := amd64.Regs{AX: 1, CX: 2, DX: 3, BX: 4, SP: 5, R15: 16, IP: 17, Flags: 18}
	var f Frame
	f.SetRegs(&r)
	if f.Regs[0] != 1 || f.Regs[1] != 2 || f.Regs[2] != 3 || f.Regs[3] != 4 || f.Regs[4] != 5 || f.Regs[15] != 16 ||
		f.Regs[IP] != 17 || f.Regs[Flags] != 18 || f.Has != HasRegs {
		t.Errorf("%+v", f)
	}
}
