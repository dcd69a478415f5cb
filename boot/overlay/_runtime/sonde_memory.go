package runtime

// The memory that the thread shim gives out: to the runtime, and in blocks to the
// kernel.
//
// Why it is here: mmap and munmap of the runtime end here, on a thread's system
// call stack, and blocks come from the same range under the same lock.

import (
	"internal/runtime/sys"
	machine "runtime/goos"
	"unsafe"
)

// Memory: one contiguous range of addresses backed by RAM throughout. The heap's
// arenas grow up from its bottom, where the runtime's first hint lies; all else
// (the runtime's own tables) comes down from its top. Reserving is taking: what
// is given is backed, so memory runs out here and nowhere else.
// guarded by sondeLock
var sondeMem struct {
	low, high uintptr // what is free: [low, high)
	start     uintptr
	end       uintptr
	holes     *sondeHole // free again, between what is not; no two of them touch
	inHoles   uintptr    // bytes
	ends      *byte      // a bit for each page of the range: it is a hole's first or last
}

// A hole is noted in itself, so there can be any number: its first page begins with a
// sondeHole, and its last page ends with the address of the first.
type sondeHole struct {
	_          sys.NotInHeap // so that storing a *sondeHole needs no write barrier
	size       uintptr
	next, prev *sondeHole
}

const sondePage = 4096

//go:nosplit
func sondeHeapInit() {
	m := &sondeMem
	m.start = uintptr(machine.RamStart)
	m.end = m.start + uintptr(machine.RamSize)
	bits := ((m.end-m.start)/sondePage/8 + sondePage) &^ (sondePage - 1)
	m.low, m.high = m.start, m.end-bits
	m.ends = (*byte)(unsafe.Pointer(m.high))
	sondeZero(m.high, bits)
}

//go:nosplit
func sondeMmap(addr, n, prot, flags uintptr) uintptr {
	const fixed = 0x10
	n = (n + 4095) &^ 4095
	if flags&fixed == 0 {
		addr = sondeTake(addr, n)
		if addr == 0 {
			return sondeErr(_ENOMEM)
		}
	}
	if prot != 0 {
		sondeZero(addr, n)
	}
	return addr
}

//go:nosplit
func sondeTake(hint, n uintptr) uintptr {
	m := &sondeMem
	for h := m.holes; h != nil && hint == 0; h = h.next {
		if at, size := uintptr(unsafe.Pointer(h)), h.size; size >= n {
			sondeFill(h)
			sondeHoleAt(at, size-n)
			return at + size - n
		}
	}
	if n > m.high-m.low {
		return 0
	}
	if hint == m.low {
		m.low += n
		return hint
	}
	m.high -= n
	return m.high
}

//go:nosplit
func sondeMunmap(addr, n uintptr) uintptr {
	sondeGive(addr, (n+4095)&^4095)
	return 0
}

// sondeGive makes [addr,addr+n) free, in one piece with what is free beside it.
//
//go:nosplit
func sondeGive(addr, n uintptr) {
	m := &sondeMem
	if addr > m.start && *sondeEnd(addr - sondePage)&sondeBit(addr-sondePage) != 0 {
		h := *(**sondeHole)(unsafe.Pointer(addr - 8))
		addr -= h.size
		n += h.size
		sondeFill(h)
	}
	if *sondeEnd(addr + n)&sondeBit(addr+n) != 0 {
		h := (*sondeHole)(unsafe.Pointer(addr + n))
		n += h.size
		sondeFill(h)
	}
	switch {
	case addr == m.high:
		m.high += n
	case addr+n == m.low:
		m.low = addr
	default:
		sondeHoleAt(addr, n)
	}
}

// sondeHoleAt notes that [addr,addr+n) is free, if n is not 0. What lies beside it is not free.
//
//go:nosplit
func sondeHoleAt(addr, n uintptr) {
	if n == 0 {
		return
	}
	m := &sondeMem
	h := (*sondeHole)(unsafe.Pointer(addr))
	last := addr + n - sondePage
	*(**sondeHole)(unsafe.Pointer(addr + n - 8)) = h
	h.size, h.prev, h.next = n, nil, m.holes
	if h.next != nil {
		h.next.prev = h
	}
	m.holes = h
	m.inHoles += n
	*sondeEnd(addr) |= sondeBit(addr)
	*sondeEnd(last) |= sondeBit(last)
}

// sondeFill removes a hole.
//
//go:nosplit
func sondeFill(h *sondeHole) {
	m := &sondeMem
	addr := uintptr(unsafe.Pointer(h))
	last := addr + h.size - sondePage
	if h.prev != nil {
		h.prev.next = h.next
	} else {
		m.holes = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	}
	m.inHoles -= h.size
	*sondeEnd(addr) &^= sondeBit(addr)
	*sondeEnd(last) &^= sondeBit(last)
}

// sondeEnd returns the byte of sondeMem.ends that has page addr's bit, which is sondeBit.
//
//go:nosplit
func sondeEnd(addr uintptr) *byte {
	m := &sondeMem
	return (*byte)(add(unsafe.Pointer(m.ends), (addr-m.start)/sondePage/8))
}

//go:nosplit
func sondeBit(addr uintptr) byte { return 1 << ((addr - sondeMem.start) / sondePage % 8) }

// SondeTakeBlock takes n bytes, a power of two, at a multiple of n, and leaves at least
// keep bytes. 0: there are none. They are not cleared.
//
//go:nosplit
func SondeTakeBlock(n, keep uintptr) uintptr {
	flags := sondeIRQOff()
	sondeAcquire()
	addr := sondeBlock(n, keep)
	sondeRelease()
	sondeIRQRestore(flags)
	return addr
}

// SondeGiveBlock gives a block back.
//
//go:nosplit
func SondeGiveBlock(addr, n uintptr) {
	flags := sondeIRQOff()
	sondeAcquire()
	sondeGive(addr, n)
	sondeRelease()
	sondeIRQRestore(flags)
}

//go:nosplit
func sondeBlock(n, keep uintptr) uintptr {
	m := &sondeMem
	if _, free := SondeMemory(); free < n || free-n < keep {
		return 0
	}
	for h := m.holes; h != nil; h = h.next {
		from, end := uintptr(unsafe.Pointer(h)), uintptr(unsafe.Pointer(h))+h.size
		at := (end - n) &^ (n - 1)
		if h.size < n || at < from {
			continue
		}
		sondeFill(h)
		sondeHoleAt(from, at-from)
		sondeHoleAt(at+n, end-at-n)
		return at
	}
	at := (m.high - n) &^ (n - 1)
	if m.high-m.low < n || at < m.low {
		return 0
	}
	sondeHoleAt(at+n, m.high-at-n)
	m.high = at
	return at
}

// sondeZero clears pages: real machines do not hand out cleared memory.
//
//go:nosplit
func sondeZero(addr, n uintptr) {
	memclrNoHeapPointers(unsafe.Pointer(addr), n)
}

// SondeMemory reports the bytes of memory in all and those still unused.
//
//go:nosplit
func SondeMemory() (total, free uintptr) {
	m := &sondeMem
	return m.end - m.start, m.high - m.low + m.inHoles
}
