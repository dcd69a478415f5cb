package runtime

// The memory that the thread shim gives out: to the runtime, and in blocks to the
// kernel.
//
// Why it is here: mmap and munmap of the runtime end here, on a thread's system
// call stack, and blocks come from the same range under the same lock.

import (
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
	holes     [64]struct{ addr, size uintptr } // unmapped again, in the middle
	lost      uintptr                          // unmapped when holes was full
}

//go:nosplit
func sondeHeapInit() {
	m := &sondeMem
	m.start = uintptr(machine.RamStart)
	m.end = m.start + uintptr(machine.RamSize)
	m.low, m.high = m.start, m.end
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
	for i := range m.holes {
		if h := &m.holes[i]; h.size >= n && hint == 0 {
			h.size -= n
			return h.addr + h.size
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
	for i := 0; i < len(m.holes); i++ {
		h := &m.holes[i]
		if h.size == 0 || h.addr+h.size != addr && addr+n != h.addr {
			continue
		}
		addr = min(addr, h.addr)
		n += h.size
		h.size = 0
		i = -1 // there may be one on the other side
	}
	switch {
	case addr == m.high:
		m.high += n
	case addr+n == m.low:
		m.low = addr
	default:
		sondeHole(addr, n)
	}
}

// sondeHole notes that [addr,addr+n) is free, in the middle of what is not.
//
//go:nosplit
func sondeHole(addr, n uintptr) {
	m := &sondeMem
	for i := range m.holes {
		if h := &m.holes[i]; h.size == 0 {
			h.addr, h.size = addr, n
			return
		}
	}
	m.lost += n
}

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
	for i := range m.holes {
		h := &m.holes[i]
		end := h.addr + h.size
		at := (end - n) &^ (n - 1)
		if h.size < n || at < h.addr {
			continue
		}
		h.size = at - h.addr
		if at+n < end {
			sondeHole(at+n, end-at-n)
		}
		return at
	}
	at := (m.high - n) &^ (n - 1)
	if m.high-m.low < n || at < m.low {
		return 0
	}
	if at+n < m.high {
		sondeHole(at+n, m.high-at-n)
	}
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
	free = m.high - m.low
	for i := range m.holes {
		free += m.holes[i].size
	}
	return m.end - m.start, free
}
