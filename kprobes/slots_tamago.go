//go:build tamago

package kprobes

import (
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/grace"
	"sonde/kernel/mm"
)

// Slots hold the copies of probed instructions: slotSize bytes each, in memory
// that is executable and within reach of a 32-bit displacement from text.
const (
	slotSize = 32

	// DetourSize is how much memory a detour gets, in bytes. None is on two pages.
	DetourSize = 1024
	// detoursAt is where the memory for detours begins, behind that for slots.
	detoursAt = 1 << 20
)

// DetourMemory returns the memory for detours, which package optprobe gives out.
//
// Context: goroutine.
func DetourMemory() mm.Range {
	return mm.Range{Start: mm.Slots.Start + detoursAt, End: mm.Slots.End}
}

// A slot that was freed is used again only after a grace period: a boosted copy
// may have been interrupted, and is returned to.
type freed struct {
	slot uintptr
	when *grace.Snapshot
}

// guarded by mu:
var (
	slotFree []freed // oldest first
	slotNext uintptr // never used yet, from here up
	slotUsed int
)

// The address that each slot's instruction was copied from, and that each detour
// is for.
var (
	slotOwner   [detoursAt / slotSize]uintptr
	detourOwner [(mm.SlotBytes - detoursAt) / DetourSize]uintptr
)

// allocSlot returns a free slot for the instruction at addr.
//
// Errors: ENOMEM.
func allocSlot(addr uintptr) (s uintptr, err error) {
	if slotNext == 0 {
		slotNext = mm.Slots.Start
	}
	switch {
	case len(slotFree) > 0 && slotFree[0].when.Passed():
		s = slotFree[0].slot
		slotFree = slotFree[1:]
	case slotNext+slotSize <= DetourMemory().Start:
		s = slotNext
		slotNext += slotSize
	default:
		return 0, refuse(syscall.ENOMEM, "all %d slots in use", slotUsed)
	}
	slotUsed++
	slotOwner[(s-mm.Slots.Start)/slotSize] = addr
	return s, nil
}

// claimDetour notes which address the detour at head is for.
func claimDetour(head, addr uintptr) {
	detourOwner[(head-DetourMemory().Start)/DetourSize] = addr
}

// freeSlot takes back a slot that no CPU enters since when.
func freeSlot(s uintptr, when *grace.Snapshot) {
	slotUsed--
	slotFree = append(slotFree, freed{s, when})
}

// SlotsUsed returns how many slots are in use.
//
// Context: goroutine.
func SlotsUsed() int {
	mu.Lock()
	defer mu.Unlock()
	return slotUsed
}

// ownerOf returns the address that the slot or the detour at ip was made for.
func ownerOf(ip uintptr) uintptr {
	off := ip - mm.Slots.Start
	if off >= detoursAt {
		return detourOwner[(off-detoursAt)/DetourSize]
	}
	return slotOwner[off/slotSize]
}

// OriginalIP returns where the instruction at ip belongs: for a copy in a slot
// the probed address, or what is behind it; otherwise ip itself.
//
// Context: any.
func OriginalIP(ip uintptr) uintptr {
	if !mm.Slots.Contains(ip) {
		return ip
	}
	addr := ownerOf(ip)
	if addr == 0 {
		return ip
	}
	s := find(addr)
	switch {
	case s == nil:
	case ip >= DetourMemory().Start:
		if d := s.detour; d != nil {
			return d.Original(ip)
		}
	case (ip-mm.Slots.Start)%slotSize != 0:
		return addr + uintptr(s.in.Len)
	}
	return addr
}

// toOriginal moves r from an instruction in a copy to the one it is a copy of.
//
// Context: trap.
func toOriginal(r *amd64.Regs) {
	ip := uintptr(r.IP)
	r.IP = uint64(OriginalIP(ip))
	if r.IP == uint64(ip) || ip < DetourMemory().Start {
		return
	}
	if s := find(ownerOf(ip)); s != nil && s.detour != nil && s.detour.Pushed(ip) {
		r.SP += 8
	}
}
