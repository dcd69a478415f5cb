package kbpf

// Trap context. Helpers: Go functions that programs call. Their names begin with help: by that,
// kprobes/reach knows them.

import (
	"syscall"
	"unsafe"

	"sonde/kernel/attach"
)

// A helper gets R1 to R5, a word that is undefined, the CPU's number and the hit.
type helper = func(r1, r2, r3, r4, r5, _ uintptr, cpu uint32, hit *attach.Hit) uintptr

// helpers are by Linux's numbers.
var helpers = map[int32]helper{
	1: helpLookup, 2: helpUpdate, 3: helpDelete,
	4: helpRead, 113: helpRead,
	5: helpTime, 125: helpTime,
	14: helpPID, 15: helpUID, 16: helpComm,
	130: helpOutput, 131: helpReserve, 132: helpSubmit, 133: helpDiscard,
}

// pointer makes a pointer of a word. Safe because: the verifier has seen that the program has it from a
// map, from its stack or from the ring, and how many bytes are there; maps are kept by the program.
func pointer(word uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&word)) }

// result is an errno as programs get it.
func result(errno syscall.Errno) uintptr { return -uintptr(errno) }

func helpLookup(m, key, _, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	return uintptr(of.find(of.table(int(cpu)), pointer(key)))
}

func helpUpdate(m, key, value, how, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	return result(of.update(of.table(int(cpu)), pointer(key), pointer(value), uint64(how)))
}

func helpDelete(m, key, _, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	return result(of.remove(of.table(int(cpu)), pointer(key)))
}

// helpRead copies from anywhere in the kernel; what cannot be read leaves zeroes.
func helpRead(to, n, from, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	if !readable(from, n) {
		zero(pointer(to), n)
		return result(syscall.EFAULT)
	}
	move(pointer(to), pointer(from), n)
	return 0
}

func helpTime(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr { return uintptr(now()) }

// helpPID is the process and the thread; of code that runs for no process, 0 and a number made of the
// goroutine's, as programs use it to tell who is who.
func helpPID(_, _, _, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	const kernelThread, low = 0x400000, 1<<30 - 1
	pid, tid, _ := process(hit, int(cpu))
	if pid == 0 {
		return uintptr(kernelThread + goid(hit, int(cpu))&low)
	}
	return uintptr(pid)<<32 | uintptr(tid)
}

// helpUID: everyone is root.
func helpUID(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr { return 0 }

// helpComm copies the name of the process, or "kernel", and ends it with zeroes.
func helpComm(to, n, _, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	pid, _, comm := process(hit, int(cpu))
	if pid == 0 {
		comm = "kernel"
	}
	zero(pointer(to), n)
	move(pointer(to), unsafe.Pointer(unsafe.StringData(comm)), min(uintptr(len(comm)), n-1))
	return 0
}

func helpOutput(m, data, n, flags, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	const wakeUp = 3 // no wake-up, or one at once: readers look every 10 ms in any case
	if flags&^wakeUp != 0 {
		return result(syscall.EINVAL)
	}
	of := (*Map)(pointer(m))
	p := of.reserve(int(cpu), n, now())
	if p == nil {
		return result(syscall.EAGAIN)
	}
	move(p, pointer(data), n)
	of.end(int(cpu), p, true)
	return 0
}

func helpReserve(m, n, flags, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	if flags != 0 {
		return 0
	}
	return uintptr((*Map)(pointer(m)).reserve(int(cpu), n, now()))
}

func helpSubmit(record, _, _, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	mapOf(pointer(record)).end(int(cpu), pointer(record), true)
	return 0
}

func helpDiscard(record, _, _, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	mapOf(pointer(record)).end(int(cpu), pointer(record), false)
	return 0
}
