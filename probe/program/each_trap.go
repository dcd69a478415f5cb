package program

// Trap context. Helpers that call a function of the program.

import (
	"syscall"
	"unsafe"

	"sonde/probe/attach"
)

// callback is a function of a program as its code has it for helpers: five words, the registers and the hit.
type callback = func(r1, r2, r3, r4, r5 uintptr, regs unsafe.Pointer, hit *attach.Hit) uintptr

// helpLoop calls f up to n times, with the number of the call from 0 and ctx, until it does not return 0. It
// returns how often. A func value is a pointer to a word with the address of code, as f is; at is that
// pointer as a number, so that f need not be on the heap. Safe because: a callback keeps no pointer to it.
func helpLoop(n, f, ctx, flags, _, _ uintptr, _ uint32, hit *attach.Hit) uintptr {
	if flags != 0 {
		return result(syscall.EINVAL)
	}
	at := uintptr(unsafe.Pointer(&f))
	for i := range n {
		if (*(*callback)(unsafe.Pointer(&at)))(i, ctx, 0, 0, 0, unsafe.Pointer(hit.Regs), hit) != 0 {
			return i + 1
		}
	}
	return n
}

// helpEach calls f for each key of a map, with the map, the key, this CPU's value and ctx, until it does not
// return 0. It returns how often.
func helpEach(m, f, ctx, flags, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	if flags != 0 {
		return result(syscall.EINVAL)
	}
	of := (*Map)(pointer(m))
	t := of.table(int(cpu))
	at := uintptr(unsafe.Pointer(&f))
	call := *(*callback)(unsafe.Pointer(&at))
	if of.isHash() {
		return of.eachEntry(t, call, ctx, hit)
	}
	for i := range of.Spec.MaxEntries {
		key := i
		if call(m, uintptr(unsafe.Pointer(&key)), uintptr(of.element(t, unsafe.Pointer(&key))), ctx, 0, unsafe.Pointer(hit.Regs), hit) != 0 {
			return uintptr(i) + 1
		}
	}
	return uintptr(of.Spec.MaxEntries)
}

// eachEntry is helpEach for a hash. What other CPUs add or remove meanwhile may be left out.
func (m *Map) eachEntry(t unsafe.Pointer, call callback, ctx uintptr, hit *attach.Hit) (n uintptr) {
	for i := range m.mask + 1 {
		e := m.entry(t, i)
		if e.word.Load()&stateMask != full {
			continue
		}
		if n == uintptr(m.Spec.MaxEntries) {
			return n // others add keys faster than this passes them
		}
		n++
		key := uintptr(unsafe.Pointer(e)) + wordSize
		if call(uintptr(unsafe.Pointer(m)), key, uintptr(unsafe.Pointer(e))+m.value, ctx, 0, unsafe.Pointer(hit.Regs), hit) != 0 {
			return n
		}
	}
	return n
}
