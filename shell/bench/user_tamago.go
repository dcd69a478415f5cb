//go:build tamago && !nolinux

package bench

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/uprobes"
	"sonde/uprobes/place"
)

// userHits is counted by the handlers, in the goroutine of a program's only busy thread.
var userHits uint64

// A userRow is one measurement of user probes: on the first instruction of a function
// that a program calls, with a handler that counts.
type userRow struct {
	name   string
	target []byte    // nil: myfunc of myprog, a Go program
	way    place.Way // how the instruction is executed
	ret    bool      // a return probe
	thread bool      // the handler is called in the thread's goroutine, as one that may block
	bare   *proc.Engine
	counts bool   // by an eBPF program; with thread, beside such a handler
	depth  uint32 // the function calls itself until so many calls are in progress; 0: it does not
}

// jmp is emulated; imul has no emulation.
var (
	nop  = []byte{0x90, 0xC3}                   // nop; ret
	jmp  = []byte{0xEB, 0x00, 0xC3}             // jmp to the next; ret
	imul = []byte{0x48, 0x0F, 0xAF, 0xC0, 0xC3} // imul rax, rax; ret
)

// The least cost of a hit by a jump in a program: a jump to a detour, which enters the kernel by
// SYSCALL and saves the registers that this loses below the red zone, and back.
var (
	userInt3    = []byte{0xCC, 0xC3}       // int3; ret
	userSyscall = []byte{0x0F, 0x05, 0xC3} // syscall; ret
	userDetour  = []byte{
		0xEB, 0x03, // jmp there
		0x90, 0x90, 0xC3, // back: nop; nop; ret
		0x48, 0x8D, 0x64, 0x24, 0x80, // there: lea rsp, [rsp-128]
		0x51, 0x41, 0x53, // push rcx; push r11
		0x0F, 0x05, // syscall
		0x41, 0x5B, 0x59, // pop r11; pop rcx
		0x48, 0x8D, 0xA4, 0x24, 0x80, 0, 0, 0, // lea rsp, [rsp+128]
		0xEB, 0xE6, // jmp back
	}
)

// The least cost of such an event in the kernel.
var (
	bareException = &proc.Engine{Exception: func(*proc.Thread, int) bool { userHits++; return true }}
	bareSyscall   = &proc.Engine{Syscall: func(t *proc.Thread) bool {
		if t.Regs().IP < targetAt {
			return false
		}
		userHits++
		return true
	}}
)

var userRows = []userRow{
	{name: "u_int3", target: userInt3, bare: bareException},
	{name: "u_syscall", target: userSyscall, bare: bareSyscall},
	{name: "u_detour", target: userDetour, bare: bareSyscall},
	{name: "u", target: nop, way: place.Nothing},
	{name: "u_emul", target: jmp, way: place.Emulate},
	{name: "u_boost", target: imul, way: place.Boost},
	{name: "u_step", target: imul, way: place.Step},
	{name: "ur", target: nop, way: place.Nothing, ret: true},
	{name: "u_thread", target: nop, way: place.Nothing, thread: true},
	{name: "ur_thread", target: nop, way: place.Nothing, ret: true, thread: true},
	{name: "ur_go", ret: true},
	{name: "bpf_u", target: nop, way: place.Nothing, counts: true},
	{name: "bpf_ur", target: nop, way: place.Nothing, ret: true, counts: true},
	{name: "bpf_u_thread", target: nop, way: place.Nothing, thread: true, counts: true},
	{name: "ur_1000", target: deepUser(1000), way: place.Nothing, ret: true, depth: 1000},
	{name: "ur_16000", target: deepUser(16000), way: place.Nothing, ret: true, depth: 16000},
}

// deepUser is a function that calls itself until depth calls are in progress. It counts them in
// R13, which is 0 when a program starts.
func deepUser(depth uint32) []byte {
	code := []byte{0x90, 0x41, 0xFF, 0xC5, 0x41, 0x81, 0xFD} // nop; inc r13d; cmp r13d, depth
	code = binary.LittleEndian.AppendUint32(code, depth)
	return append(code,
		0x74, 5, // jz back
		0xE8, 0xEE, 0xFF, 0xFF, 0xFF, // call itself
		0x41, 0xFF, 0xCD, // back: dec r13d
		0xC3, // ret
	)
}

// Programs is this machine's table of processes; nil: it cannot run programs. Boot sets it.
var Programs *proc.Table

func init() { inPrograms = userBench{} }

// userBench measures user probes.
type userBench struct{}

func (userBench) known(name string) bool {
	return name == "ureg" || slices.ContainsFunc(userRows, func(r userRow) bool { return r.name == name })
}

func (userBench) run(out io.Writer, args []string, wanted func(name string) bool) error {
	if Programs == nil && len(args) == 0 {
		return nil
	}
	for _, r := range userRows {
		if !wanted(r.name) || (r.depth > 0 || r.counts) && len(args) == 0 {
			continue
		}
		if err := r.run(out, Programs); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	if wanted("ureg") {
		return userRegistration(out, Programs)
	}
	return nil
}

func (userBench) scale(out io.Writer) error {
	if Programs == nil {
		return nil
	}
	return scaleUser(out, Programs)
}

func (r *userRow) run(w io.Writer, table *proc.Table) error {
	undo, err := r.force()
	if err != nil {
		return err
	}
	defer undo()
	base, err := measure(func(int) (int64, error) { return r.perCall(table, nil) })
	if err != nil {
		return err
	}
	ps, err := measure(func(int) (int64, error) {
		before := userHits
		ps, err := r.perCall(table, &userHits)
		if got := userHits - before; err == nil && got != r.hits() {
			err = fmt.Errorf("%d hits, not %d", got, r.hits())
		}
		return ps, err
	})
	if err == nil {
		fmt.Fprintf(w, "%s\t%s\n", r.name, ps.net(base.median()))
	}
	return err
}

// force makes points use the way that the row measures, until undo.
func (r *userRow) force() (undo func(), err error) {
	if r.bare != nil || r.target == nil {
		return func() {}, nil
	}
	plan, err := place.Decide(r.target, targetAt)
	if err == nil && plan.Way != r.way {
		uprobes.Force(r.way)
	}
	return func() { uprobes.Force(place.Refused) }, err
}

// hits is how many hits a program has: myprog prints the result of two more calls.
func (r *userRow) hits() uint64 {
	switch {
	case r.target == nil:
		return calls + 2
	case r.depth > 0:
		return deepCalls
	}
	return calls
}

// start starts the row's program.
func (r *userRow) start(table *proc.Table, probed bool, ready func(*proc.Process)) (*loop, error) {
	switch {
	case r.target == nil:
		return start(table, ready, goProgram, "-n", "2", "-every", "0s", "-burst", strconv.Itoa(calls))
	case r.bare != nil && !probed:
		return startLoop(table, nop, calls, ready)
	case r.depth > 0:
		return startLoop(table, r.target, deepCalls/r.depth, ready)
	}
	return startLoop(table, r.target, calls, ready)
}

const goProgram = "/bin/myprog"

// perCall returns picoseconds per call, in a program that is probed if hits, which counts
// them, is not nil.
func (r *userRow) perCall(table *proc.Table, hits *uint64) (int64, error) {
	l, remove, err := r.begin(table, hits)
	if err != nil {
		return 0, err
	}
	err = l.end()
	if remove(); err != nil {
		return 0, err
	}
	from, to := <-l.at, <-l.at
	n := int64(calls)
	if r.depth > 0 {
		n = deepCalls
	}
	return (to - from) * 1000 / n, nil
}

// begin starts the row's program with its probe.
func (r *userRow) begin(table *proc.Table, hits *uint64) (l *loop, remove func(), err error) {
	var failed error
	remove = func() {}
	l, err = r.start(table, hits != nil, func(p *proc.Process) {
		if hits != nil {
			remove, failed = r.plant(p, hits)
		}
	})
	if err == nil && failed != nil {
		l.Kill(abi.SIGKILL)
		l.end()
	}
	return l, remove, cmp.Or(err, failed)
}

// plant sets the probe. The end of the process unregisters one that is not on a file.
func (r *userRow) plant(p *proc.Process, hits *uint64) (remove func(), err error) {
	remove = func() {}
	count := func(*uprobes.Uprobe, *amd64.Regs) { *hits++ }
	countReturn := func(*uprobes.UretprobeInstance, *amd64.Regs) { *hits++ }
	switch {
	case r.bare != nil:
		p.Attach(r.bare)
	case r.counts:
		return r.plantProgram(p, hits)
	case r.target == nil:
		rp := &uprobes.Uretprobe{U: uprobes.Uprobe{Pid: p.PID, Path: goProgram, Symbol: "myfunc", TrapSafe: !r.thread}, Handler: countReturn}
		return func() { uprobes.UnregisterUretprobe(rp) }, uprobes.RegisterUretprobe(rp)
	case r.ret:
		err = uprobes.RegisterUretprobe(&uprobes.Uretprobe{U: uprobes.Uprobe{Pid: p.PID, Vaddr: targetAt, TrapSafe: !r.thread}, Handler: countReturn})
	default:
		err = uprobes.RegisterUprobe(&uprobes.Uprobe{Pid: p.PID, Vaddr: targetAt, Handler: count, TrapSafe: !r.thread})
	}
	return remove, err
}

// plantProgram is plant for an eBPF program. A program never blocks: it is called in the thread's goroutine
// where another handler may.
func (r *userRow) plantProgram(p *proc.Process, hits *uint64) (remove func(), err error) {
	at := fmt.Sprintf("%d:%#x", p.PID, targetAt)
	if r.ret {
		at = fmt.Sprintf("%d:ret:%#x", p.PID, targetAt)
	}
	if r.thread {
		err := uprobes.RegisterUprobe(&uprobes.Uprobe{Pid: p.PID, Vaddr: targetAt, Handler: func(*uprobes.Uprobe, *amd64.Regs) {}})
		if err != nil {
			return func() {}, err
		}
	}
	l, closes, err := attachProgram(r.name, counting, at)
	if err != nil {
		return func() {}, err
	}
	return func() {
		*hits += l.Ledger().Handled
		closes()
	}, nil
}
