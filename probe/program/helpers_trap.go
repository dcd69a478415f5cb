package program

// Trap context. Helpers: Go functions that programs call. Their names begin with help: by that,
// kprobes/reach knows them.

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/probe/attach"
	"sonde/probe/task"
)

// A helper gets R1 to R5, a word that is undefined, the CPU's number and the hit.
type helper = func(r1, r2, r3, r4, r5, _ uintptr, cpu uint32, hit *attach.Hit) uintptr

// helpers are by number: Linux's, and ours from bpf.HelperGoid on.
var helpers = [...]struct {
	number int32
	call   helper
}{
	{1, helpLookup}, {2, helpUpdate}, {3, helpDelete}, {195, helpLookupOf},
	{4, helpReadAny}, {112, helpReadUser}, {113, helpRead}, {45, helpReadAnyString}, {114, helpReadUserString}, {115, helpReadString},
	{5, helpTime}, {125, helpTime}, {160, helpTime}, {118, helpJiffies}, {7, helpRandom},
	{14, helpPID}, {15, helpUID}, {16, helpComm}, {35, helpTask}, {80, helpCgroup},
	{87, helpPush}, {88, helpPop}, {89, helpPeek}, {25, helpEvent}, {27, helpStackID}, {67, helpStack},
	{130, helpOutput}, {131, helpReserve}, {132, helpSubmit}, {133, helpDiscard}, {134, helpQuery},
	{109, helpSignal}, {164, helpEach}, {181, helpLoop}, {6, helpPrint}, {177, helpPrintWords}, {165, helpFormat},
	{173, helpPlace}, {174, helpCookie}, {183, helpArgTo}, {184, helpResultTo}, {185, helpArgs}, {182, helpCompare},

	{bpf.HelperGoid, helpGoid}, {bpf.HelperGCPhase, helpGCPhase}, {bpf.HelperGCNum, helpGCNum},
	{bpf.HelperWatchOld, helpOld}, {bpf.HelperWatchNew, helpNew}, {bpf.HelperArg, helpArg}, {bpf.HelperContains, helpContains},
	{bpf.HelperDepth, helpDepth}, {bpf.HelperErrorText, helpErrorText},
	{bpf.HelperLog2, helpLog2}, {bpf.HelperHistAdd, helpHistAdd}, {bpf.HelperAggAdd, helpAggAdd},
}

// helperOf returns the helper with a number; nil: there is none.
func helperOf(number int32) helper {
	for i := range helpers {
		if helpers[i].number == number {
			return helpers[i].call
		}
	}
	return nil
}

// pointer makes a pointer of a word. Safe because: the verifier has seen that the program has it from a
// map, from its stack or from the ring, and how many bytes are there; maps are kept by the program.
func pointer(word uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&word)) }

// result is an errno as programs get it.
func result(errno syscall.Errno) uintptr { return -uintptr(errno) }

func helpLookup(m, key, _, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	value := of.find(of.table(int(cpu)), pointer(key))
	if of.maps {
		return mapIn(value)
	}
	return uintptr(value)
}

// helpLookupWord is helpLookup in a hash that evicts nothing, with keys of 8 bytes: it takes 15 instructions
// less.
func helpLookupWord(m, key, _, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	if e := of.findWord((*table)(of.table(int(cpu))), *(*uint64)(pointer(key))); e != nil {
		return uintptr(unsafe.Pointer(e)) + of.value
	}
	return 0
}

// helpSignal sends the process that was hit a signal. The verifier lets programs call it if Unsafe says so.
func helpSignal(n, _, _, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	switch {
	case uint32(n)-1 >= 64:
		return result(syscall.EINVAL)
	case !signal(hit, int(cpu), int(uint32(n))):
		return result(syscall.EPERM)
	}
	return 0
}

// helpLookupOf finds what another CPU has at a key.
func helpLookupOf(m, key, of, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	if of >= uintptr(cpus()) {
		return 0
	}
	in := (*Map)(pointer(m))
	return uintptr(in.find(in.table(int(of)), pointer(key)))
}

func helpUpdate(m, key, value, how, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	return result(of.update(of.table(int(cpu)), pointer(key), pointer(value), uint64(how)))
}

func helpDelete(m, key, _, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	return result(of.remove(of.table(int(cpu)), pointer(key)))
}

func helpTime(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr { return uintptr(now()) }

// helpPID is the process and the thread; of code that runs for no process, 0 and a number made of the
// goroutine's, as programs use it to tell who is who. A command that runs a program is a process of that number. Where
// a tracepoint is hit that runs no goroutine, it is Linux's thread 0.
func helpPID(_, _, _, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	const kernelThread, low = 0x400000, 1<<30 - 1
	pid, tid, _ := process(hit, int(cpu))
	if pid == 0 {
		id := goid(hit, int(cpu))
		if id == 0 && hit.Place.Site.Stands {
			return 0
		}
		tid = kernelThread + int(id&low)
		if runner(hit) != "" {
			pid = tid
		}
	}
	return uintptr(pid)<<32 | uintptr(tid)
}

// runner is the command of the kernel that runs a program without a hit: see Run. System calls are of processes.
//
//go:nosplit
func runner(hit *attach.Hit) string {
	if hit.Place.Site.Kind != attach.Call {
		return ""
	}
	return hit.Place.Link.Options.Owner
}

// helpJiffies is the time in ticks of sysconf(_SC_CLK_TCK).
func helpJiffies(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	const tick = 1e9 / 100
	return uintptr(now()) / tick
}

// random is the state of helpRandom, which all CPUs share.
var random atomic.Uint64

// helpRandom is SplitMix64's, of which programs get the high half. Source: G. L. Steele, D. Lea,
// C. H. Flood, "Fast Splittable Pseudorandom Number Generators", figure 14.
func helpRandom(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	z := random.Add(0x9e3779b97f4a7c15)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uintptr((z ^ z>>31) >> 32)
}

// helpTask is the address of the thread's task.Task. It has the queue of the CPU on which that runs now.
func helpTask(_, _, _, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	t := taskOf(hit, int(cpu))
	if t == nil {
		t = task.Kernel(uint32(helpPID(0, 0, 0, 0, 0, 0, cpu, hit)), commOf(hit, int(cpu)))
	}
	t.On(int(cpu), waiting(hit, int(cpu)))
	return uintptr(unsafe.Pointer(t))
}

// helpCgroup: all processes are in the root of control groups.
func helpCgroup(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr { return 1 }

// helpPlace is the address that was probed; of a return, that of the function.
func helpPlace(_, _, _, _, _, _ uintptr, _ uint32, hit *attach.Hit) uintptr {
	return uintptr(hit.Place.Addr)
}

// helpCookie is what the place was given when the program was attached.
func helpCookie(_, _, _, _, _, _ uintptr, _ uint32, hit *attach.Hit) uintptr {
	return uintptr(hit.Place.Site.Cookie)
}

// helpUID: everyone is root.
func helpUID(_, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr { return 0 }

// helpComm copies the name of what runs, and ends it with zeroes.
func helpComm(to, n, _, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	comm := commOf(hit, int(cpu))
	zero(pointer(to), n)
	move(pointer(to), unsafe.Pointer(unsafe.StringData(comm)), min(uintptr(len(comm)), n-1))
	return 0
}

// commOf is the name of the process, the command or the kernel's thread that was hit, "swapper" where helpPID is 0, or
// "kernel".
func commOf(hit *attach.Hit, cpu int) string {
	pid, _, comm := process(hit, cpu)
	switch who := runner(hit); {
	case pid != 0:
		return comm
	case hit.Place.Site.Stands && goid(hit, cpu) == 0:
		return "swapper"
	case who != "":
		return who
	}
	if name := nameOf(hit, cpu); name != "" {
		return name
	}
	return "kernel"
}

func helpOutput(m, data, n, flags, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	const wakeUp = 3 // no wake-up, or one at once: readers look every 10 ms in any case
	if flags&^wakeUp != 0 {
		return result(syscall.EINVAL)
	}
	return (*Map)(pointer(m)).output(int(cpu), pointer(data), n)
}

// helpEvent writes a record into a perf event array, whose index must be this CPU's: each has a part.
func helpEvent(_, m, flags, data, n, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	const index, here = 0xffffffff, 0xffffffff
	of := (*Map)(pointer(m))
	switch at := flags & index; {
	case flags&^index != 0:
		return result(syscall.EINVAL)
	case at != here && at >= uintptr(of.Spec.MaxEntries):
		return result(syscall.E2BIG)
	case of.owned && at == here:
		return of.perf(uintptr(cpu), data, n, cpu, hit)
	case of.owned:
		return of.perf(at, data, n, cpu, hit)
	case at != here && at != uintptr(cpu):
		return result(syscall.EOPNOTSUPP)
	}
	return of.output(int(cpu), pointer(data), n)
}

// output writes a record.
func (m *Map) output(cpu int, data unsafe.Pointer, n uintptr) uintptr {
	if m.shared != nil {
		return m.outputShared(data, n)
	}
	p := m.reserve(cpu, n, now())
	if p == nil {
		return result(syscall.EAGAIN)
	}
	move(p, data, n)
	submit(p)
	return 0
}

func helpPush(m, value, how, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	return result((*Map)(pointer(m)).push(pointer(value), uint64(how)))
}

func helpPop(m, to, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	return result((*Map)(pointer(m)).pull(pointer(to), true))
}

func helpPeek(m, to, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	return result((*Map)(pointer(m)).pull(pointer(to), false))
}

func helpReserve(m, n, flags, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	switch {
	case flags != 0:
		return 0
	case of.shared != nil:
		return uintptr(of.shared.Reserve(n))
	}
	return uintptr(of.reserve(int(cpu), n, now()))
}

func helpSubmit(record, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	submit(pointer(record))
	return 0
}

func helpDiscard(record, _, _, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	discard(pointer(record))
	return 0
}

// What helpQuery can be asked, by Linux's numbers. Each CPU has a part of a ring of its own.
const (
	queryWaiting = iota // bytes that have not been read
	querySize
	queryRead // up to where readers are
	queryWritten
)

func helpQuery(m, what, _, _, _, _ uintptr, cpu uint32, _ *attach.Hit) uintptr {
	of := (*Map)(pointer(m))
	var read, written uint64
	if of.shared != nil {
		read, written = of.shared.Positions()
	} else {
		read, written = of.ring.Writer(int(cpu)).Positions()
	}
	switch what {
	case queryWaiting:
		return uintptr(written - read)
	case querySize:
		return uintptr(of.Spec.MaxEntries)
	case queryRead:
		return uintptr(read)
	case queryWritten:
		return uintptr(written)
	}
	return 0
}
