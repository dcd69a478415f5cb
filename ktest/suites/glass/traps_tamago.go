//go:build tamago

package glass

import (
	"strings"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/probe/glass"
)

func init() {
	suites.Add("glass/single_step", singleStep)
	suites.Add("glass/boosted", boosted)
	suites.Add("glass/emulated_call", emulatedCall)
	suites.Add("glass/branched", branched)
	suites.Add("glass/stack_check", stackCheck)
	suites.Add("glass/stack_that_grows", stackGrows)
	suites.Add("glass/jump", jump)
	suites.Add("glass/takes_over", takesOver)
	suites.Add("glass/disabled", disabled)
	suites.Add("glass/witness", witness)
	suites.Add("glass/wanted_hit", wantedHit)
}

// seen are registers as frames have them.
func seen(r *amd64.Regs) (regs [glass.NumRegs]uint64) {
	var f glass.Frame
	f.SetRegs(r)
	return f.Regs
}

// singleStep: what the handlers see are the registers of the frames.
func singleStep(t *suites.T) {
	var before, behind [glass.NumRegs]uint64
	var who kprobes.Task
	k := &kprobes.Kprobe{
		SymbolName: pkg + "Leaf",
		PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
			before, who = seen(r), kprobes.Current(r).Goroutine
			return 0
		},
		PostHandler: func(_ *kprobes.Kprobe, r *amd64.Regs, _ uint64) { behind = seen(r) },
	}
	with(t, k, func() {
		s := begin(t, pkg+"Leaf", 0, 1, false)
		targets.Leaf(3, 4)
		frames := s.ended(glass.Trapped, glass.Enters, glass.Returned, glass.ToStep, glass.Stepped, glass.PutBack, glass.Enters, glass.Returned)
		if frames[1].Regs != before || frames[6].Regs != behind {
			t.Errorf("pre-handler saw %#x, post-handler %#x", before, behind)
		}
		if frames[0].Goroutine != uint64(who) || frames[0].Regs[ax] != 3 {
			t.Errorf("goroutine %d, AX %d; want %d, 3", frames[0].Goroutine, frames[0].Regs[ax], who)
		}
	})
}

// boosted: without a detour, whose copy is used otherwise.
func boosted(t *suites.T) {
	kprobes.SetJumps(false)
	defer kprobes.SetJumps(true)
	with(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf", PreHandler: pre}, func() {
		s := begin(t, pkg+"Leaf", 0, 1, true)
		if got := targets.Leaf(3, 4); got != 13 {
			t.Errorf("Leaf returns %d", got)
		}
		s.ended(glass.Trapped, glass.Enters, glass.Returned, glass.ToSlot)
	})
}

// emulatedCall: a call pushes the address after it, and IP is the callee.
func emulatedCall(t *suites.T) {
	s := begin(t, pkg+"Small", first(t, pkg+"Small", insn.Call), 1, true)
	if got := targets.Small(7); got != 45 {
		t.Errorf("Small returns %d", got)
	}
	behind := uint64(s.d.Addr) + s.length()
	callee := s.target()
	frames := s.ended(glass.Trapped, glass.Emulates, glass.Emulated)
	from, to := &frames[1], &frames[2]
	if from.Note[1] != behind || to.Stack[0] != behind || to.Regs[sp] != from.Regs[sp]-8 || to.Regs[ip] != callee {
		t.Errorf("pushed %#x, on the stack %#x, want %#x; IP %#x, want %#x", from.Note[1], to.Stack[0], behind, to.Regs[ip], callee)
	}
}

// first is the offset of the first instruction of that kind in a function.
func first(t *suites.T, name string, flow insn.Flow) (off uintptr) {
	fn, err := kallsyms.Resolve(name)
	t.Must(err)
	found := false
	_, err = insn.Walk(text.Bytes(uintptr(fn.Addr), uintptr(fn.Size)), func(at int, in insn.Inst) bool {
		if in.Flow == flow {
			off, found = uintptr(at), true
		}
		return !found
	})
	t.Must(err)
	if !found {
		t.Fatalf("%s has no such instruction", name)
	}
	return off
}

func branched(t *suites.T) {
	for _, shape := range targets.Shapes() {
		if shape.Name != "jmpShort" && shape.Name != "jmpBack" {
			continue
		}
		s := beginAt(t, kprobes.Kprobe{Addr: shape.Entry}, 1, true)
		if _, err := shape.Run(); err != nil {
			t.Errorf("%v", err)
		}
		s.ended(glass.Trapped, glass.Branched)
	}
}

func stackCheck(t *suites.T) {
	for name, call := range map[string]func() uint64{
		"Small": func() uint64 { return targets.Small(7) }, "Medium": func() uint64 { return targets.Medium(7) }, "Large": func() uint64 { return targets.Large(7) },
	} {
		s := begin(t, pkg+name, 0, 1, true)
		call()
		frames := s.ended(glass.Trapped, glass.Decided)
		if last := &frames[1]; last.Note[0] <= last.Note[1] {
			t.Errorf("%s: %#x is not above the limit %#x", name, last.Note[0], last.Note[1])
		}
	}
}

// stackGrows: the hit that makes the stack grow is no call; what follows is, of the same goroutine.
func stackGrows(t *suites.T) {
	const depth = 400
	for hit := uint64(1); hit < depth; hit++ {
		s := begin(t, pkg+"Grow", 0, hit, true)
		done := make(chan uint64)
		go func() { done <- targets.Grow(depth) }()
		if got := <-done; got != depth*(depth+1)/2 {
			t.Fatalf("Grow returns %d", got)
		}
		if frames := s.end(); len(frames) > 0 && frames[0].Stage == glass.Grows {
			if len(frames) != 3 || frames[1].Stage != glass.Trapped || frames[2].Stage != glass.Decided || frames[1].Regs[ip] != frames[0].Regs[ip] {
				t.Errorf("%d frames, %d, %d", len(frames), frames[1].Stage, frames[2].Stage)
			}
			return
		}
	}
	t.Errorf("the stack has not grown at a recorded call")
}

func jump(t *suites.T) {
	with(t, &kprobes.Kprobe{SymbolName: pkg + "Nine", PreHandler: pre}, func() {
		s := begin(t, pkg+"Nine", 0, 1, false)
		if !s.d.Jumped {
			t.Errorf("there is no jump")
		}
		if sum := targets.Nine(11, 22, 33, 44, 55, 66, 77, 88, 99); sum != 3135 {
			t.Errorf("Nine returns %d", sum)
		}
		frames := s.ended(glass.Jumped, glass.Enters, glass.Returned, glass.ToDetour)
		if frames[0].Regs[ax] != 11 || frames[3].Regs[11] != 99 {
			t.Errorf("arguments %d and %d", frames[0].Regs[ax], frames[3].Regs[11])
		}
	})
}

// takesOver: the handlers after the one that takes over are not called.
func takesOver(t *suites.T) {
	over := func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		var f glass.Frame
		f.SetRegs(r)
		r.AX, r.IP, r.SP = 4711, *word(r.SP), r.SP+8
		return 1
	}
	with(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf", PreHandler: over, PostHandler: post}, func() {
		with(t, &kprobes.Kprobe{SymbolName: pkg + "Leaf", PreHandler: pre}, func() {
			s := begin(t, pkg+"Leaf", 0, 1, false)
			if got := targets.Leaf(3, 4); got != 4711 {
				t.Errorf("Leaf returns %d", got)
			}
			frames, lost := s.film.Recorded()
			s.close()
			if len(frames) != 4 || lost != 0 || frames[3].Stage != glass.TookOver || frames[2].Note[0] != 1 || frames[3].Regs[ip] != frames[1].Stack[0] {
				t.Errorf("%d frames: %+v", len(frames), frames)
			}
		})
	})
}

func disabled(t *suites.T) {
	k := &kprobes.Kprobe{SymbolName: pkg + "Leaf", PreHandler: pre, Flags: kprobes.FlagDisabled}
	with(t, k, func() {
		s := begin(t, pkg+"Leaf", 0, 1, true)
		targets.Leaf(3, 4)
		s.ended(glass.Trapped, glass.Off, glass.ToSlot)
		if l := k.Ledger(); l.Entered != 1 || l.Disarmed != 1 || l.Unexplained() != 0 {
			t.Errorf("%+v", l)
		}
	})
}

// witness: the code continues after the instruction, or after what the jump replaces.
func witness(t *suites.T) {
	for _, noJump := range []bool{true, false} {
		s := begin(t, pkg+"Nine", 0, 1, noJump)
		s.camera.Witness = true
		t.Must(s.camera.UseWitness())
		s.look() // else the witness becomes a jump, which changes the bytes, when a frame has been made
		behind := uint64(s.d.Addr) + s.length()
		way := []glass.Stage{glass.Trapped, glass.ToSlot, glass.Leaves}
		if !noJump {
			behind = uint64(s.d.Addr + s.d.Detour.Len)
			way = []glass.Stage{glass.Jumped, glass.ToDetour, glass.Leaves}
		}
		targets.Nine(11, 22, 33, 44, 55, 66, 77, 88, 99)
		if frames := s.ended(way...); frames[2].Regs[ip]-1 != behind {
			t.Errorf("the code goes on at %#x, want %#x", frames[2].Regs[ip]-1, behind)
		}
	}
}

// wantedHit: of some hits, one is recorded, and counted are those up to it.
func wantedHit(t *suites.T) {
	s := begin(t, pkg+"Leaf", 0, 5, true)
	for n := range uint64(9) {
		targets.Leaf(n+1, 0)
	}
	if n := s.film.Seen(); n != 9 {
		t.Errorf("%d hits were seen", n)
	}
	if frames := s.ended(glass.Trapped, glass.ToSlot); frames[0].Regs[ax] != 5 {
		t.Errorf("hit %d was recorded", frames[0].Regs[ax])
	}
	if _, err := glass.New(0, 0); err == nil || !strings.Contains(err.Error(), "counted from 1") {
		t.Errorf("hit 0: %v", err)
	}
}
