//go:build tamago

package trap

import "sonde/arch/amd64"

// Breakpoint executes an INT3 without a probe; it returns.
func Breakpoint()

// InvalidOpcode executes UD2.
func InvalidOpcode()

// WildWrite stores to an address where nothing is mapped.
func WildWrite()

// WildJump continues there.
func WildJump()

// DoubleFault removes the stack for this CPU's page faults, and faults.
func DoubleFault()

// Mislead makes exception v a double fault, in ring 3 too: its gate names a stack at an invalid
// address.
func Mislead(v uint8) {
	const spare = 7
	for _, c := range cpus {
		if c != nil {
			c.tss.SetIST(spare, 1<<62) // not canonical
		}
	}
	idt[v] = amd64.MakeGate(idt[v].Offset(), amd64.SelKernelCode, spare, amd64.GateInterrupt, privilege(int(v)))
}

// Open lets programs raise exception v by INT.
func Open(v uint8) {
	idt[v] = amd64.MakeGate(idt[v].Offset(), amd64.SelKernelCode, istFault, amd64.GateInterrupt, 3)
}

// OverflowStack makes a trap handler recurse until its stack is full.
func OverflowStack()

const vecOverflow = amd64.VecOverflow // for the assembly

func init() { SetHandler(vecOverflow, func(r *amd64.Regs) { overflow(r, 0) }) }

// overflow has no stack check, which would stop it in time.
//
//go:nosplit
func overflow(r *amd64.Regs, n int) int {
	return overflowMore(r, n+1) + 1
}

var overflowMore func(*amd64.Regs, int) int

func init() { overflowMore = overflow }

func bareAddresses() (ret, set, clear, resume uintptr)

// Bare makes the gates of #BP and #DB as short as possible, for measuring: one IRETQ; with step,
// #BP sets the trap flag and #DB clears it. No probe may be hit until the returned function has
// been called.
func Bare(step bool) (restore func()) {
	ret, set, clear, _ := bareAddresses()
	bp, db := idt[amd64.VEC_BP], idt[amd64.VEC_DB]
	to := ret
	if step {
		to = set
		idt[amd64.VEC_DB] = amd64.MakeGate(uint64(clear), amd64.SelKernelCode, istDebug, amd64.GateInterrupt, 0)
	}
	idt[amd64.VEC_BP] = amd64.MakeGate(uint64(to), amd64.SelKernelCode, istTrap, amd64.GateInterrupt, privilege(amd64.VEC_BP))
	return func() { idt[amd64.VEC_BP], idt[amd64.VEC_DB] = bp, db }
}

// BareDebug makes the gate of #DB as short as possible for a watchpoint: it sets RF, and IRETQ. DR6
// is not changed.
func BareDebug() (restore func()) {
	_, _, _, resume := bareAddresses()
	db := idt[amd64.VEC_DB]
	idt[amd64.VEC_DB] = amd64.MakeGate(uint64(resume), amd64.SelKernelCode, istDebug, amd64.GateInterrupt, 0)
	return func() { idt[amd64.VEC_DB] = db }
}

// Empty makes #BP only call an empty Go handler, for measuring.
func Empty() (restore func()) {
	h := onBreakpoint
	onBreakpoint = func(*amd64.Regs, *Int3) {}
	return func() { onBreakpoint = h }
}
