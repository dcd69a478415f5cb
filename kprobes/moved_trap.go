//go:build tamago

package kprobes

// Trap context. Handlers that change where the code goes on: a crash names the one that did it
// last, and one that cannot have meant what it did is told once. Hits pay for this only if the walk
// of the image says that a handler of theirs may change IP or SP (machine.Machine, Careful).

import (
	"strings"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/printk"
)

// A spot is where code goes on, and on which stack.
type spot struct{ ip, sp uint64 }

func spotOf(r *amd64.Regs) spot { return spot{r.IP, r.SP} }

// role is what a handler is to its probe.
type role uint8

const (
	rolePre role = iota
	rolePost
	roleFault
	roleEntry
	roleReturn
)

func (r role) String() string {
	return [...]string{"pre-handler", "post-handler", "fault-handler", "entry handler", "return handler"}[r]
}

// A move is a change of IP or SP by a handler. It has no pointers: storing one needs a write barrier.
type move struct {
	at, code uintptr // the probe's place; the handler's code
	role     role
	kind     kind
	owner    [32]byte // name of the probe's module
	from, to spot
	when     int64 // ns since boot; 0: there was none
	told     bool
}

// moves are the last ones, by CPU.
var moves [trap.MaxCPUs]move

// moved notes what a handler of k has changed of r, which was at was. A change of IP counts if the
// handler has said so by what it returned.
func (k *Kprobe) moved(id int, role role, r *amd64.Regs, was spot, ipCounts bool) {
	to := spotOf(r)
	if !ipCounts || k.kind == kindKprobe && role == rolePre && r.Vector == amd64.VecDetour {
		to.ip = was.ip
	}
	if to != was {
		k.noteMove(id, role, r, was, to)
	}
}

// noteMove keeps a move for a crash that may follow.
func (k *Kprobe) noteMove(id int, role role, r *amd64.Regs, was, to spot) {
	trap.SaveXMM(r)
	m := &moves[id]
	m.at, m.code, m.role, m.kind = k.Addr, k.code(role), role, k.kind
	m.from, m.to, m.when, m.told = was, to, cpu.Nanotime(), false
	n := min(len(k.owner), len(m.owner)-1)
	for i := range n { // copy would keep probes away from memmove
		m.owner[i] = k.owner[i]
	}
	m.owner[n] = 0
}

// code returns where the code of a handler begins.
// Safe because: a func value that is not nil points to that address.
func (k *Kprobe) code(role role) uintptr {
	var p unsafe.Pointer
	switch role {
	case rolePre:
		p = *(*unsafe.Pointer)(unsafe.Pointer(&k.PreHandler))
	case rolePost:
		p = *(*unsafe.Pointer)(unsafe.Pointer(&k.PostHandler))
	case roleFault:
		p = *(*unsafe.Pointer)(unsafe.Pointer(&k.FaultHandler))
	case roleEntry:
		p = *(*unsafe.Pointer)(unsafe.Pointer(&asKretprobe(k).EntryHandler))
	default:
		p = *(*unsafe.Pointer)(unsafe.Pointer(&asKretprobe(k).Handler))
	}
	return *(*uintptr)(p)
}

// tookOver says once what becomes of a hit whose pre-handler has returned non-zero without effect, or
// without a change of IP.
func (k *Kprobe) tookOver(r *amd64.Regs) {
	if !k.Flags.Set(flagTold) {
		return
	}
	trap.SaveXMM(r)
	name, file, line := where(k.code(rolePre))
	what := "returned non-zero and left IP as it was: the instruction is not executed, the code goes on one byte behind its beginning"
	if r.Vector == amd64.VecDetour {
		what = "returned non-zero, which has no effect when a jump leads to it; with a post-handler the kprobe stays a breakpoint"
	}
	printk.Warn("kprobes: pre-handler %s (%s:%d) of the kprobe at %s%s%s%s %s",
		name, file, line, die.Symbol(uint64(k.Addr)), moduleWord(k.owner), k.owner, comma(k.owner), what)
}

// where is goruntime.Where with the file as reports show it.
func where(pc uintptr) (function, file string, line int) {
	function, file, line = goruntime.Where(pc)
	return function, strings.TrimPrefix(file, "sonde/"), line
}

// moduleWord stands before the name of a module, if there is one.
func moduleWord(name string) string {
	if name == "" {
		return ""
	}
	return ", module "
}

// comma stands behind it.
func comma(name string) string {
	if name == "" {
		return ""
	}
	return ","
}

// callPost calls k's post-handler where that may change X0-X14, IP or SP.
func (k *Kprobe) callPost(st *state, r *amd64.Regs) {
	trap.SaveXMM(r)
	was := spotOf(r)
	st.begin(k)
	k.PostHandler(k, r, 0)
	st.end()
	k.moved(int(st.id), rolePost, r, was, true)
}

// callCareful calls rp's return handler where that may change X0-X14, IP or SP.
func (rp *Kretprobe) callCareful(st *state, in *KretprobeInstance, r *amd64.Regs) {
	trap.SaveXMM(r)
	was := spotOf(r)
	st.begin(&rp.KP)
	rp.Handler(in, r)
	st.end()
	rp.KP.moved(int(st.id), roleReturn, r, was, true)
}

// near is how far from an SP that a handler has set an access is still due to it, in bytes.
const near = 1 << 16

// blameAt names the handler that has led r on CPU id here, to a fault at addr: IP is what it has
// set, or the address or SP is near to the SP that it has set.
func blameAt(id int, r *amd64.Regs, addr uint64) {
	m := &moves[id]
	ip := m.to.ip != m.from.ip && r.IP == m.to.ip
	sp := m.to.sp != m.from.sp && (r.SP-m.to.sp+near < 2*near || addr-m.to.sp+near < 2*near)
	if m.when != 0 && (ip || sp) {
		blame(id)
	}
}

// blame names the handler that was the last on CPU id to change IP or SP, if it has not been
// named yet.
func blame(id int) {
	m := &moves[id]
	if m.when == 0 || m.told {
		return
	}
	m.told = true
	name, file, line := where(m.code)
	owner := unsafe.String(&m.owner[0], ownerLen(m))
	printk.Emerg("kprobes: %s %s (%s:%d) of the %s at %s%s%s%s changed where the code goes on, %d us ago on CPU %d",
		m.role.String(), name, file, line, m.kind.noun(), die.Symbol(uint64(m.at)), moduleWord(owner), owner, comma(owner), (cpu.Nanotime()-m.when)/1000, id)
	if m.to.ip != m.from.ip {
		printk.Emerg("kprobes: IP from %#x to %#x", m.from.ip, m.to.ip)
	}
	if m.to.sp != m.from.sp {
		printk.Emerg("kprobes: SP from %#x to %#x", m.from.sp, m.to.sp)
	}
}

func ownerLen(m *move) (n int) {
	for m.owner[n] != 0 {
		n++
	}
	return n
}
