package program

// Trap context: see map_trap.go. Stacks that are kept by numbers: a stack's place follows from its hash, so
// that the same one always has the same number. A place's word says what is there.

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/probe/attach"
)

// A place's word: 0 nothing was ever here, 1 a stack is being written; else the hash of the one that is
// here, the lowest bits of which are 2.
const (
	noStack      = 0
	writingStack = 1
	isStack      = 2
)

// Flags, by Linux's numbers: how many calls are left out, and how stacks are compared.
const (
	skipCalls   = 0xff
	userCalls   = 1 << 8
	compareFast = 1 << 9
	replaceOld  = 1 << 10
)

// stackAt returns a place's word. Safe because: there is room for so many.
//
//go:nosplit
func (m *Map) stackAt(id uint32) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(m.base, uintptr(id)*m.stride))
}

// keepStack returns the number of a stack. The last calls that do not fit are left out.
//
// Errors, as negative numbers: EEXIST another stack has this number.
func (m *Map) keepStack(pcs []uintptr, flags uintptr) uintptr {
	h := uint64(0)
	for _, pc := range pcs {
		h = mix(h ^ uint64(pc))
	}
	h = h&^stateMask | isStack
	id := uint32(h >> 32 % uint64(m.room))
	at := m.stackAt(id)
	switch w := at.Load(); {
	case w == h && (flags&compareFast != 0 || m.sameStack(at, pcs)):
		return uintptr(id)
	case w != noStack && (flags&replaceOld == 0 || w == writingStack), !at.CompareAndSwap(w, writingStack):
		m.lost.Add(1)
		return result(syscall.EEXIST)
	}
	for i := range uintptr(m.size) / wordSize {
		pc := uint64(0)
		if i < uintptr(len(pcs)) {
			pc = uint64(pcs[i])
		}
		m.call(at, i).Store(pc)
	}
	at.Store(h)
	return uintptr(id)
}

// call is the i-th call of the stack at a place.
//
//go:nosplit
func (m *Map) call(at *atomic.Uint64, i uintptr) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(unsafe.Pointer(at), (i+1)*wordSize))
}

func (m *Map) sameStack(at *atomic.Uint64, pcs []uintptr) bool {
	for i := range uintptr(m.size) / wordSize {
		pc := m.call(at, i).Load()
		if i >= uintptr(len(pcs)) {
			return pc == 0
		}
		if pc != uint64(pcs[i]) {
			return false
		}
	}
	return true
}

// copyStack copies a stack to a goroutine's memory; false: there is none.
//
//go:nosplit
func (m *Map) copyStack(key, to unsafe.Pointer) bool {
	id := *(*uint32)(key)
	if id >= m.room {
		return false
	}
	at := m.stackAt(id)
	for {
		w := at.Load()
		if w&stateMask != isStack {
			return false
		}
		load(to, unsafe.Add(unsafe.Pointer(at), wordSize), m.size)
		if at.Load() == w {
			return true
		}
	}
}

// removeStack forgets a stack.
//
//go:nosplit
func (m *Map) removeStack(key unsafe.Pointer) syscall.Errno {
	id := *(*uint32)(key)
	if id >= m.room {
		return syscall.ENOENT
	}
	at := m.stackAt(id)
	if w := at.Load(); w&stateMask != isStack || !at.CompareAndSwap(w, noStack) {
		return syscall.ENOENT
	}
	return 0
}

// calls returns the calls that led to a hit, of which the first are left out as flags say; nil: none are
// known. They are on the CPU's scratchpad.
func calls(hit *attach.Hit, cpu int, flags, most uintptr) []uintptr {
	pcs := &scratch[cpu].pcs
	skip := flags & skipCalls
	want := min(most+skip, maxDepth)
	n := 0
	if flags&userCalls != 0 {
		n = userStack(hit, cpu, pcs[:want])
	} else {
		n = kernelStack(hit, cpu, pcs[:want])
	}
	if uintptr(n) <= skip {
		return nil
	}
	return pcs[skip:n]
}

// helpStackID keeps the stack of the hit in a map, and returns its number there.
func helpStackID(_, m, flags, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	if flags&^(skipCalls|userCalls|compareFast|replaceOld) != 0 {
		return result(syscall.EINVAL)
	}
	pcs := calls(hit, int(cpu), flags, uintptr(of.size)/wordSize)
	if pcs == nil {
		return result(syscall.EFAULT)
	}
	return of.keepStack(pcs, flags)
}

// helpStack copies the stack of the hit, as far as there is room, and returns how many bytes it has.
func helpStack(_, to, n, flags, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	zero(pointer(to), n)
	if flags&^(skipCalls|userCalls) != 0 || n%wordSize != 0 {
		return result(syscall.EINVAL)
	}
	pcs := calls(hit, int(cpu), flags, n/wordSize)
	if pcs == nil {
		return result(syscall.EFAULT)
	}
	for i, pc := range pcs {
		*(*uintptr)(pointer(to + uintptr(i)*wordSize)) = pc
	}
	return uintptr(len(pcs)) * wordSize
}

// helpDepth is how many calls a stack has that a map keeps; 0: it keeps none under that number.
func helpDepth(m, id, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) (n uintptr) {
	of := (*Map)(pointer(m))
	if int64(id) < 0 || uint32(id) >= of.room || of.stackAt(uint32(id)).Load()&stateMask != isStack {
		return 0
	}
	at := of.stackAt(uint32(id))
	for n < uintptr(of.size)/wordSize && of.call(at, n).Load() != 0 {
		n++
	}
	return n
}
