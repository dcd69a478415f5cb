package program

// Trap context: see map_trap.go. Rings that processes have made, and read where they have mapped them.

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/probe/attach"
	"sonde/probe/ring"
)

// outputShared writes a record into a ring buffer.
func (m *Map) outputShared(data unsafe.Pointer, n uintptr) uintptr {
	p := m.shared.Reserve(n)
	if p == nil {
		return result(syscall.EAGAIN)
	}
	move(p, data, n)
	ring.SubmitShared(p)
	return 0
}

func helpSubmitShared(record, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	ring.SubmitShared(pointer(record))
	return 0
}

func helpDiscardShared(record, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	ring.DiscardShared(pointer(record))
	return 0
}

// What a sample can have before its data, by Linux's bits, in the order of a record: all but those are 0.
const (
	sampleIdentifier = 1 << 16
	sampleIP         = 1 << 0
	sampleThread     = 1 << 1
	sampleTime       = 1 << 2
	sampleAddr       = 1 << 3
	sampleID         = 1 << 6
	sampleStream     = 1 << 9
	sampleCPU        = 1 << 7
	samplePeriod     = 1 << 8
)

// fields are the words of a sample before its data.
type fields struct {
	bits uint64 // which are wanted
	n    uintptr
	all  [9]uint64
}

//go:nosplit
func (f *fields) add(bit, word uint64) {
	if f.bits&bit != 0 {
		f.all[f.n] = word
		f.n++
	}
}

// perf writes a sample into the event at an index of a perf event array. Safe because: SetPerf keeps what is
// there for a grace period longer.
func (m *Map) perf(at, data, n uintptr, cpu uint32, hit *attach.Hit) uintptr {
	if at >= uintptr(m.Spec.MaxEntries) {
		return result(syscall.E2BIG)
	}
	p := (*ring.Perf)(pointer(uintptr((*atomic.Uint64)(unsafe.Add(m.base, at*wordSize)).Load())))
	switch {
	case p == nil:
		return result(syscall.ENOENT)
	case p.CPU >= 0 && p.CPU != int(cpu):
		return result(syscall.EOPNOTSUPP)
	}
	var w fields
	w.bits = p.Words
	w.add(sampleIdentifier, p.ID)
	w.add(sampleIP, hit.IP)
	if p.Words&sampleThread != 0 {
		id := uint64(helpPID(0, 0, 0, 0, 0, 0, cpu, hit))
		w.add(sampleThread, id>>32|id<<32)
	}
	w.add(sampleTime, uint64(now()))
	w.add(sampleAddr, 0)
	w.add(sampleID, p.ID)
	w.add(sampleStream, p.ID)
	w.add(sampleCPU, uint64(cpu))
	w.add(samplePeriod, 1)
	if !p.Sample(unsafe.Pointer(&w.all), w.n, pointer(data), n) {
		return result(syscall.ENOSPC)
	}
	return 0
}
