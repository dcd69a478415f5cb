//go:build tamago

package glass

import (
	"bytes"
	"errors"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kallsyms"
	"sonde/kernel/text"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/kwatch"
	"sonde/probe/glass"
)

func init() {
	suites.Add("glass/watched_write", watchedWrite)
	suites.Add("glass/watched_instruction", watchedInstruction)
	suites.Add("glass/abandoned_watch_handler", abandonedWatch)
}

var watchedWord uint64

//go:noinline
func writeWord(v uint64) { watchedWord = v }

// filmWatch records hit 2 of a watchpoint while run runs, and checks what all hits have in common.
func filmWatch(t *suites.T, addr uintptr, length int, typ kwatch.Type, h kwatch.Handler, run func()) (reg int, frames []glass.Frame) {
	film, err := glass.New(2, -1)
	t.Must(err)
	defer film.Close()
	reg, err = kwatch.RegisterKwatch(addr, length, typ, h)
	t.Must(err)
	defer kwatch.UnregisterKwatch(reg)
	c, err := kwatch.RegisterCamera(reg, film)
	t.Must(err)
	defer kwatch.UnregisterCamera(c)
	if _, err := kwatch.RegisterCamera(reg, film); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("a second camera: %v", err)
	}
	run()
	if frames, _ = film.Recorded(); !film.Done() {
		t.Errorf("the hit is not over")
	}
	for i := range frames {
		f := &frames[i]
		live := text.Bytes(uintptr(f.Regs[ip]), glass.CodeBytes)
		if f.Has&glass.HasCode == 0 || !bytes.Equal(f.Code[:], live) || f.Goroutine != frames[0].Goroutine || f.CPU != frames[0].CPU {
			t.Errorf("frame %d: code % x, not % x; goroutine %d", i+1, f.Code, live, f.Goroutine)
		}
		want := frames[0].Regs
		if f.Stage == glass.GoesOn && typ == kwatch.Execute {
			want[flags] |= amd64.RFLAGS_RF
		}
		if f.Regs != want {
			t.Errorf("frame %d: registers %#x, want %#x", i+1, f.Regs, want)
		}
	}
	if len(frames) == 0 || frames[0].Note[0]&debugreg.DR6_B3 != 0 || frames[0].Note[0]>>reg&1 == 0 || frames[0].Note[1] != uint64(reg) {
		t.Fatalf("%d frames; DR6 does not say register %d", len(frames), reg)
	}
	return reg, frames
}

// stagesAre compares the stages of frames.
func stagesAre(t *suites.T, frames []glass.Frame, want ...glass.Stage) {
	for i := range max(len(frames), len(want)) {
		if i >= len(frames) || i >= len(want) || frames[i].Stage != want[i] {
			t.Fatalf("%d frames, want stages %v; the first other one is frame %d", len(frames), want, i+1)
		}
	}
}

// watchedWrite: the values are those that the handler gets, and the accessor is the function that writes.
func watchedWrite(t *suites.T) {
	var last kwatch.Hit
	hits := 0
	h := func(h *kwatch.Hit, _ *amd64.Regs) {
		if hits++; hits == 2 {
			last = *h
		}
	}
	writeWord(1)
	_, frames := filmWatch(t, uintptr(unsafe.Pointer(&watchedWord)), 8, kwatch.Write, h, func() {
		for v := range uint64(4) {
			writeWord(v + 7)
		}
	})
	stagesAre(t, frames, glass.Watched, glass.Accessed, glass.Enters, glass.Returned, glass.GoesOn)
	a := &frames[1]
	if hits != 4 || a.Note != [2]uint64{7, 8} || last.Old != 7 || last.New != 8 || a.Probe != last.IP || uint64(a.Probe) != a.Regs[ip] {
		t.Errorf("%d hits; %d -> %d, IP %#x; the handler got %+v", hits, a.Note[0], a.Note[1], a.Probe, last)
	}
	if name, _, _, _ := kallsyms.Lookup(uint64(kwatch.Accessor(a.Probe))); name != "sonde/ktest/suites/glass.writeWord" {
		t.Errorf("written by %s", name)
	}
	if frames[4].Note[0] != 0 {
		t.Errorf("RF is set behind an access")
	}
}

// watchedInstruction: RF is what lets the instruction run.
func watchedInstruction(t *suites.T) {
	leaf := t.Function(pkg + "Leaf")
	hits := 0
	_, frames := filmWatch(t, uintptr(leaf.Addr), 1, kwatch.Execute, func(*kwatch.Hit, *amd64.Regs) { hits++ }, func() {
		for range 3 {
			if got := targets.Leaf(3, 4); got != 13 {
				t.Errorf("Leaf returns %d", got)
			}
		}
	})
	stagesAre(t, frames, glass.Watched, glass.Enters, glass.Returned, glass.GoesOn)
	if hits != 3 || frames[0].Regs[ip] != uint64(leaf.Addr) || frames[3].Note[0] == 0 || frames[0].Has&glass.HasText == 0 {
		t.Errorf("%d hits, IP %#x", hits, frames[0].Regs[ip])
	}
}

// abandonedWatch: the handler breaks the rules at the recorded hit.
func abandonedWatch(t *suites.T) {
	hits := 0
	_, frames := filmWatch(t, uintptr(unsafe.Pointer(&watchedWord)), 8, kwatch.Write, func(*kwatch.Hit, *amd64.Regs) {
		if hits++; hits == 2 {
			panic("a watchpoint's handler")
		}
	}, func() {
		for v := range uint64(4) {
			writeWord(v + 7)
		}
	})
	stagesAre(t, frames, glass.Watched, glass.Accessed, glass.Enters, glass.Abandoned, glass.GoesOn)
	if hits != 2 || frames[3].Why[0] == 0 {
		t.Errorf("%d hits; why %q", hits, frames[3].Why[:])
	}
}
