//go:build tamago

package main

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/boot/handoff"
	"sonde/kernel/cpu"
	"sonde/kernel/flight"
	"sonde/kernel/mm"
	"sonde/kernel/printk"
)

// The next boot must find the flight recorder's memory unchanged, although other code runs before
// that: firmware, which uses the first megabytes and the end of the memory below 4 GiB, and GRUB,
// whose heap begins at that end, too, and whose modules lie after the first megabytes. So it is
// the last free page of 2 MiB below the image, and the next boot looks into all of them.

const (
	recorderEnd   = imagePA
	recorderFloor = 16 << 20
)

// recorderPA is the address of the flight recorder's memory, 0 if there is none.
var recorderPA uint64

// startRecorder finds the recorder's memory, and begins to record.
//
// Context: on boot's tables; the image is in busy.
func startRecorder() {
	for pa := uint64(recorderEnd - hugePage); pa >= recorderFloor; pa -= hugePage {
		s := handoff.Span{PA: pa, Len: uint64(flight.Size)}
		if _, taken := loader.InUse(s.PA, s.Len, busy[:nBusy]); taken || !loader.HasRAM(s) {
			continue
		}
		found := flight.Holds(recorderAt(directBase + pa))
		if recorderPA == 0 || found {
			recorderPA = pa
		}
		if found {
			break
		}
	}
	if recorderPA == 0 {
		return
	}
	busy[nBusy] = handoff.Span{PA: recorderPA, Len: uint64(flight.Size)}
	nBusy++
	flight.Main.Open(recorderAt(directBase+recorderPA), cpu.Rdtsc())
}

// recorderAt is the memory at addr as package flight needs it.
//
// Safe because: it is mapped, and nothing else uses it.
func recorderAt(addr uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// mapRecorder maps the memory so that no store to it stays in a cache, which a reset would lose.
func mapRecorder() {
	if recorderPA != 0 {
		n := (uint64(flight.Size) + pageSize - 1) &^ (pageSize - 1)
		check(mm.Tables.Map(recorderBase, recorderPA, n, rw|amd64.PTE_PWT), recorderPA)
	}
}

// moveRecorder switches to the mapping in the kernel's tables. It writes the caches back, where
// stores through boot's tables may be.
func moveRecorder() {
	if recorderPA != 0 {
		cpu.Wbinvd()
		flight.Main.Move(recorderAt(recorderBase))
	}
}

// tellRecorder logs what the previous boot has left.
func tellRecorder() {
	switch f, err := flight.Main.Before(); {
	case err == nil:
		printk.Notice("flight: %s: dmesg -p", printk.Ended(f))
	case err == flight.ErrDamaged:
		printk.Warn("flight: %s", err.Error())
	case recorderPA == 0:
		printk.Warn("flight: no memory is free for a record of this boot")
	}
}
