package glass

import (
	"sync/atomic"
	"syscall"

	"sonde/kernel/refusal"
)

const (
	// Frames is how many frames a film has.
	Frames = 256
	// Most is how many films there can be.
	Most = 8
)

// A Film takes the frames of one hit. Use New to make one, and Close when it is not needed any more.
type Film struct {
	want uint64 // which hit, counted from 1
	cpu  int    // hits on this CPU alone; -1: on any

	seen    atomic.Uint64 // hits
	claim   atomic.Uint64 // the CPU, from 1, and the goroutine whose hit is recorded; 0: none yet
	began   atomic.Bool   // the hit that was claimed is being recorded
	used    atomic.Uint32 // frames; more than Frames: some are lost
	done    atomic.Bool
	closed  atomic.Bool
	frames  [Frames]Frame
	written [Frames]atomic.Bool
}

var films atomic.Int32

// New makes a film of the hit number want, counted from 1, on that CPU, or on any if cpu is negative.
//
// Errors: EINVAL want is 0; EBUSY there are Most films already.
func New(want uint64, cpu int) (*Film, error) {
	if want == 0 {
		return nil, refusal.New(syscall.EINVAL, "hits are counted from 1")
	}
	if films.Add(1) > Most {
		films.Add(-1)
		return nil, refusal.New(syscall.EBUSY, "%d cameras are in use; wait until one has recorded its hit", Most)
	}
	return &Film{want: want, cpu: cpu}, nil
}

// Close makes room for another film. What has been recorded can still be read.
func (f *Film) Close() {
	if !f.closed.Swap(true) {
		films.Add(-1)
	}
}

// key is what claim is for a hit. Numbers of goroutines have far fewer bits than 56.
func key(cpu int, goroutine uint64) uint64 { return uint64(cpu+1)<<56 | goroutine&(1<<56-1) }

// Claim counts a hit and reports whether it is the one to be recorded.
//
// Context: trap.
func (f *Film) Claim(cpu int, goroutine uint64) bool {
	if f.cpu >= 0 && cpu != f.cpu {
		return false
	}
	n := f.seen.Add(1)
	old := f.claim.Load()
	switch {
	case old == 0 && n == f.want:
		if !f.claim.CompareAndSwap(0, key(cpu, goroutine)) {
			return false
		}
	case old == 0 || f.began.Load() || old<<8 != key(cpu, goroutine)<<8:
		return false
	default: // claimed by Early
		f.claim.Store(key(cpu, goroutine))
	}
	f.began.Store(true)
	return true
}

// Early reports whether the hit that this goroutine is about to have is the one to be recorded: then it
// is claimed, not counted.
//
// Context: trap.
func (f *Film) Early(cpu int, goroutine uint64) bool {
	if f.cpu >= 0 && cpu != f.cpu || f.seen.Load()+1 != f.want {
		return false
	}
	return f.claim.CompareAndSwap(0, key(cpu, goroutine))
}

// Of reports whether it is a hit of this goroutine that is recorded.
//
// Context: any.
func (f *Film) Of(goroutine uint64) bool {
	return f.began.Load() && f.claim.Load()<<8 == goroutine<<8
}

// Next returns the next frame to be filled in, and its number for Written; nil if there is none left.
//
// Context: trap.
func (f *Film) Next() (*Frame, int) {
	n := f.used.Add(1) - 1
	if n >= Frames {
		return nil, 0
	}
	return &f.frames[n], int(n)
}

// Written says that frame n is complete.
//
// Context: trap.
func (f *Film) Written(n int) { f.written[n].Store(true) }

// Finish says that the hit is over.
//
// Context: trap.
func (f *Film) Finish() { f.done.Store(true) }

// Done reports whether the hit is over.
func (f *Film) Done() bool { return f.done.Load() }

// Seen returns how many hits there have been.
func (f *Film) Seen() uint64 { return f.seen.Load() }

// Begun reports whether a hit has been claimed.
func (f *Film) Begun() bool { return f.claim.Load() != 0 }

// Hit returns the number of the hit that is recorded.
func (f *Film) Hit() uint64 { return f.want }

// Recorded returns the complete frames in order, and how many were lost.
func (f *Film) Recorded() (frames []Frame, lost int) {
	n := int(f.used.Load())
	lost = max(n-Frames, 0)
	for i := range min(n, Frames) {
		if f.written[i].Load() {
			frames = append(frames, f.frames[i])
		}
	}
	return frames, lost
}
