package program

// Trap context. Helpers that Linux does not have, and the arguments of what was hit.

import (
	"math/bits"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/goabi"
	"sonde/bpf"
	"sonde/probe/attach"
)

func helpGoid(_, _, _, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	return uintptr(goid(hit, int(cpu)))
}

func helpGCPhase(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	phase, _ := collector()
	return uintptr(phase)
}

func helpGCNum(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	_, ended := collector()
	return uintptr(ended)
}

func helpOld(_, _, _, _, _, _ uintptr, _ uint32, hit *attach.Hit) uintptr { return uintptr(hit.Old) }
func helpNew(_, _, _, _, _, _ uintptr, _ uint32, hit *attach.Hit) uintptr { return uintptr(hit.New) }

// helpArg is the i-th word that was passed in a register; 0: so many are not. The kernel's functions have
// Go's convention, those of programs the one that their file says, and system calls their own.
func helpArg(_, i, _, _, _, _ uintptr, _ uint32, hit *attach.Hit) uintptr {
	if p := argument(hit, i); p != nil {
		return uintptr(*p)
	}
	return 0
}

// helpArgTo is Linux's form of helpArg.
func helpArgTo(_, i, to, _, _, _ uintptr, _ uint32, hit *attach.Hit) uintptr {
	p := argument(hit, i)
	if p == nil {
		return result(syscall.EINVAL)
	}
	*(*uint64)(pointer(to)) = *p
	return 0
}

// helpArgs is how many words helpArgTo has: as many as are passed in registers. The function that was hit
// may take fewer.
func helpArgs(_, _, _, _, _, _ uintptr, _ uint32, hit *attach.Hit) (n uintptr) {
	for argument(hit, n) != nil {
		n++
	}
	return n
}

func helpResultTo(_, to, _, _, _, _ uintptr, _ uint32, hit *attach.Hit) uintptr {
	if !hit.Returns {
		return result(syscall.EOPNOTSUPP)
	}
	*(*uint64)(pointer(to)) = hit.Result()
	return 0
}

// argument returns the register of an argument, nil if it is in none.
func argument(hit *attach.Hit, i uintptr) *uint64 {
	words := goabi.Go
	switch kind := hit.Place.Site.Kind; {
	case kind == attach.Call:
		words = goabi.SystemCall
	case kind == attach.Program:
		words = hit.Place.Convention.Args()
	case kind == attach.Kernel && len(hit.Data) > 0:
		return inRow(hit.Data, i)
	}
	if i >= uintptr(len(words)) {
		return nil
	}
	return hit.Regs.Register(words[i])
}

func helpLog2(n, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	return uintptr(bucket(n))
}

// bucket is bpf.Bucket.
func bucket(n uintptr) int {
	if int(n) < 0 {
		return 0
	}
	return bits.Len64(uint64(n)) + 1
}

// helpHistAdd counts a number in a histogram. No other program runs on this CPU, so that no addition is
// atomic.
func helpHistAdd(m, key, n, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	value, errno := (*Map)(pointer(m)).added(int(cpu), pointer(key))
	if value != nil {
		*(*uint64)(unsafe.Add(value, bucket(n)*wordSize))++
	}
	return result(errno)
}

// helpAggAdd adds a number to an aggregate.
func helpAggAdd(m, key, n, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	value, errno := (*Map)(pointer(m)).added(int(cpu), pointer(key))
	if value == nil {
		return result(errno)
	}
	a, v := (*bpf.Aggregate)(value), int64(n)
	if a.Count == 0 {
		a.Min, a.Max = v, v
	}
	a.Count++
	a.Sum += v
	a.Min, a.Max = min(a.Min, v), max(a.Max, v)
	return 0
}

// zeroes are a value that is added.
var zeroes [maxValue]byte

// added returns where the value of a key is, which is added with zeroes if it is not there; nil: why not.
func (m *Map) added(cpu int, key unsafe.Pointer) (value unsafe.Pointer, errno syscall.Errno) {
	t := m.table(cpu)
	if value = m.find(t, key); value != nil {
		return value, 0
	}
	if errno = m.update(t, key, unsafe.Pointer(&zeroes), Any); errno != 0 {
		return nil, errno
	}
	return m.find(t, key), 0
}
