//go:build tamago

package glass

import (
	"slices"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/probe/glass"
)

const pkg = "sonde/ktest/suites/targets."

// A shot is a camera at a place, with what the rules need to know of that.
type shot struct {
	t          *suites.T
	film       *glass.Film
	camera     kprobes.Camera
	d          kprobes.Description
	trampoline uint64
}

// begin puts a camera at an offset in a function, for a hit counted from 1.
func begin(t *suites.T, symbol string, off uintptr, hit uint64, noJump bool) *shot {
	return beginAt(t, kprobes.Kprobe{SymbolName: symbol, Offset: off}, hit, noJump)
}

// beginAt is begin where k is.
func beginAt(t *suites.T, k kprobes.Kprobe, hit uint64, noJump bool) *shot {
	film, err := glass.New(hit, -1)
	t.Must(err)
	s := &shot{t: t, film: film, camera: kprobes.Camera{
		KP: k, Film: film, NoJump: noJump,
	}}
	kprobes.AwaitJumps() // so that no jump, and no detour, comes while the camera is there
	if err := kprobes.RegisterCamera(&s.camera); err != nil {
		film.Close()
		t.Fatalf("%v", err)
	}
	s.look()
	return s
}

// look notes how the place is hit now.
func (s *shot) look() {
	kprobes.AwaitJumps()
	var err error
	s.d, err = kprobes.Describe("", s.camera.KP.Addr)
	s.t.Must(err)
	tramp, err := kallsyms.Resolve("sonde/kprobes.trampoline")
	s.t.Must(err)
	s.trampoline = tramp.Addr
}

// end takes the camera away, and returns what it has recorded. Until then the place is as it was.
func (s *shot) end() []glass.Frame {
	frames, lost := s.film.Recorded()
	if s.check(frames); lost != 0 {
		s.t.Errorf("%d frames are lost", lost)
	}
	s.close()
	return frames
}

func (s *shot) close() {
	kprobes.UnregisterCamera(&s.camera)
	s.film.Close()
	d, err := kprobes.Describe("", s.d.Addr)
	s.t.Must(err)
	if slices.ContainsFunc(d.Probes, func(k kprobes.ProbeInfo) bool { return k.Kind == "c" }) {
		s.t.Errorf("the camera is there still")
	}
}

// ended is end for a hit that must be over, with these stages. A hit that was not a call yet, since the stack
// grew or the scheduler wanted to run, is left out.
func (s *shot) ended(stages ...glass.Stage) []glass.Frame {
	if !s.film.Done() {
		s.t.Errorf("the hit is not over")
	}
	frames := afterGrowth(s.end())
	var got []glass.Stage
	for i := range frames {
		got = append(got, frames[i].Stage)
	}
	if !slices.Equal(got, stages) {
		s.t.Fatalf("stages %v, want %v", got, stages)
	}
	return frames
}

// afterGrowth returns the frames without that of a stack that grows at the hit: how large stacks are at first depends
// on those that the collector has seen.
func afterGrowth(frames []glass.Frame) []glass.Frame {
	if len(frames) > 0 && frames[0].Stage == glass.Grows {
		return frames[1:]
	}
	return frames
}

// with registers a kprobe for f.
func with(t *suites.T, k *kprobes.Kprobe, f func()) {
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	f()
}

// pre is a pre-handler that does nothing, post a post-handler, back a return handler.
func pre(*kprobes.Kprobe, *amd64.Regs) int             { return 0 }
func post(*kprobes.Kprobe, *amd64.Regs, uint64)        {}
func back(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }
