//go:build tamago

package glass

import (
	"encoding/binary"
	"errors"
	"slices"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/tape"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("glass/way_to_a_jump", wayToAJump)
}

// wayToAJump: each event follows from those before it, on all CPUs; the bytes are those in memory.
func wayToAJump(t *suites.T) {
	addr, jump := recorded(t)
	events, lost := tape.Stop()
	if lost != 0 {
		t.Errorf("%d events are lost", lost)
	}
	at := func(from int, what tape.What, a uint64) int {
		for i := from; i < len(events); i++ {
			if events[i].What == what && (a == 0 || events[i].A == a) {
				return i
			}
		}
		t.Fatalf("no event %d behind %d of %+v", what, from, events)
		return 0
	}
	poked := at(0, tape.Poked, addr)
	synced := poked
	for range cpu.Num() {
		synced = at(synced+1, tape.Serialized, 0)
	}
	made := at(synced, tape.DetourMade, 0)
	began := at(made, tape.GraceBegins, 0)
	over := at(began, tape.GraceOver, 0)
	written := at(over, tape.Written, addr)
	stops := written
	for events[stops].What != tape.Stopping { // those before it have found a CPU in the region
		stops--
	}
	goesOn := at(written, tape.StopOver, 0)
	back := at(goesOn, tape.Written, addr)
	last := at(back, tape.Poked, addr)
	orig := kprobes.Original(uintptr(addr), 8)
	if e := &events[poked]; e.B != uint64(orig[0])|insn.OpInt3<<8 {
		t.Errorf("poked %#x", e.B)
	}
	if e := &events[last]; e.B != uint64(orig[0])<<8|insn.OpInt3 {
		t.Errorf("poked %#x in the end", e.B)
	}
	if got := events[written].B & (1<<40 - 1); got != jump {
		t.Errorf("written %#x, in memory was %#x", got, jump)
	}
	orig[0] = insn.OpInt3
	if got, want := events[back].B&(1<<40-1), binary.LittleEndian.Uint64(orig)&(1<<40-1); got != want {
		t.Errorf("written %#x, want %#x", got, want)
	}
	for id := range cpu.Num() {
		on := func(from, to int, what tape.What) *tape.Event {
			i := slices.IndexFunc(events[from:to], func(e tape.Event) bool { return e.What == what && int(e.CPU) == id })
			if i < 0 {
				return nil
			}
			return &events[from+i]
		}
		if on(began, over, tape.Passed) == nil {
			t.Errorf("CPU %d has not passed a scheduling point", id)
		}
		if id == int(events[stops].CPU) {
			continue
		}
		held := on(stops, written, tape.Held)
		if held == nil || held.A > addr && held.A < addr+insn.JumpSize {
			t.Errorf("CPU %d was not held, or in the region: %+v", id, held)
		}
		if on(written, len(events), tape.LetGo) == nil {
			t.Errorf("CPU %d does not go on", id)
		}
		if on(poked, synced+1, tape.Serialized) == nil {
			t.Errorf("CPU %d does not serialize", id)
		}
	}
}

// recorded records the way of a probe there and back, and returns its address and the five bytes that were
// there in between.
func recorded(t *suites.T) (addr, jump uint64) {
	grace.Barrier() // no other grace period goes on
	t.Must(tape.Start())
	if err := tape.Start(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("once more: %v", err)
	}
	with(t, &kprobes.Kprobe{SymbolName: pkg + "Nine", PreHandler: pre}, func() {
		d, err := kprobes.Describe(pkg+"Nine", 0)
		t.Must(err)
		t.Until("the jump", func() bool { return kprobes.Optimized(d.Addr) })
		addr = uint64(d.Addr)
		for i, b := range text.Bytes(d.Addr, insn.JumpSize) {
			jump |= uint64(b) << (8 * i)
		}
	})
	return addr, jump
}
