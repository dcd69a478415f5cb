//go:build tamago

// Package text is the only writer of executable memory. The code is mapped read-only where
// it runs; writing uses a second mapping that no other package knows (W^X).
//
// One byte may be replaced at any time (Poke): other CPUs execute the old or the new
// instruction, never a mixture, if the byte is the first of an instruction and one of the
// two is INT3. When Sync has returned, they execute the new one. More than one byte is
// replaced while the machine is stopped (Replace, Batch).
//
// There is no lock. Poke is one compare-and-swap, so it does not overwrite what another
// Poke writes next to it, and the stop in which a Batch is written cannot happen in the
// middle of it.
//
// Source: Intel SDM vol. 3A, "Handling Self- and Cross-Modifying Code".
package text

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/kernel/refusal"
	"sonde/kernel/smp"
	"sonde/kernel/tape"
)

// Poke replaces the byte old at addr by new. Call Sync before relying on it.
//
// Errors: EFAULT addr is not code, EILSEQ there is another byte than old.
func Poke(addr uintptr, old, new byte) error {
	if !mm.Text.Contains(addr) {
		return refusal.New(syscall.EFAULT, "text: poke %#x: not kernel text", addr)
	}
	word := wordOf(addr)
	shift := addr % 4 * 8
	for {
		v := atomic.LoadUint32(word)
		if have := byte(v >> shift); have != old {
			return refusal.New(syscall.EILSEQ, "text: poke %#x: found %#02x, not %#02x", addr, have, old)
		}
		if atomic.CompareAndSwapUint32(word, v, v&^(0xff<<shift)|uint32(new)<<shift) {
			if tape.On() {
				tape.Note(cpu.Rdtsc(), cpu.ID(), tape.Poked, uint64(addr), uint64(old)|uint64(new)<<8)
			}
			return nil
		}
	}
}

// wordOf returns the writable view of the aligned word that addr lies in.
func wordOf(addr uintptr) *uint32 { return (*uint32)(unsafe.Pointer(alias(addr &^ 3))) }

// Sync returns when every CPU executes what has been poked. It also means that
// every CPU has since been outside all handlers that run with interrupts off.
func Sync() { smp.CallAll(cpu.Serialize) }

// Refresh writes what is at addr there once more. QEMU (7.2, several vCPUs) can
// translate code while it is being changed and keep the translation of the old
// bytes; this write drops it, when no CPU can be translating those bytes any more.
// For a real processor it has no effect.
//
// Context: any.
func Refresh(addr uintptr) {
	word := wordOf(addr)
	v := atomic.LoadUint32(word)
	atomic.CompareAndSwapUint32(word, v, v)
}

// WriteSlot copies code to addr in mm.Slots or mm.Made, where nothing executes yet.
func WriteSlot(addr uintptr, code []byte) {
	all := mm.Range{Start: mm.Slots.Start, End: mm.Made.End}
	if !all.Contains(addr) || !all.Contains(addr+uintptr(len(code))-1) {
		panic("text: write outside the slots")
	}
	write(addr, code)
}

// alias returns the writable view of a byte of code.
func alias(addr uintptr) *byte {
	// Safe because: boot mapped Text, Slots and Made there a second time.
	return (*byte)(unsafe.Pointer(addr + mm.AliasOffset))
}

// Bytes returns the n bytes of code at addr, as they are now.
//
// Context: any.
// Errors: nil when that is not code.
func Bytes(addr, n uintptr) []byte {
	if n == 0 || !mm.Text.Contains(addr) || !mm.Text.Contains(addr+n-1) {
		return nil
	}
	// Safe because: it is readable for good; callers do not write to it.
	return unsafe.Slice((*byte)(unsafe.Pointer(addr)), n)
}
