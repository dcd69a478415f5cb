//go:build tamago

// Package usermode enables all CPUs to run programs, and makes them forget changed
// page-table entries. Package arch/amd64/user cannot do that, because it has no interrupts
// to other CPUs.
package usermode

import (
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
	"sonde/kernel/mm/backing"
	"sonde/kernel/notifier"
	"sonde/kernel/refusal"
	"sonde/kernel/smp"
	"sonde/kernel/text"
	"sonde/linux/space"
)

// Init prepares all CPUs, and makes space.Kernel.
//
// Context: goroutine, once.
// Errors: ENODEV the code cannot be changed as this processor needs it.
func Init() error {
	var patches []text.Patch
	for _, a := range user.Init(cpu.CPUID, interrupt) {
		patches = append(patches, text.Patch{Addr: a.Addr, Old: a.Old, New: a.New})
	}
	if len(patches) > 0 {
		if _, err := text.Replace(patches...); err != nil {
			return refusal.New(syscall.ENODEV, "usermode: no programs can run: the way to ring 3 cannot be changed: %v", err)
		}
	}
	notifier.Die[amd64.VEC_PF].Register(&notifier.Block{Name: "usermode", Priority: 300, Call: onFault})
	smp.CallAll(func() { user.InitCPU(mm.Tables.Root) })
	space.Kernel = machine()
	backing.Cut = space.Kernel.Cut
	return nil
}

// Capabilities returns what Linux tells programs of the processor as AT_HWCAP, the first features of
// CPUID, and as AT_HWCAP2: that they may use the instructions of FSGSBASE.
//
// Context: goroutine, after Init.
func Capabilities() (hwcap, hwcap2 uint64) {
	const fsgsbase = 1 << 1
	if user.HasFSGSBASE() {
		hwcap2 = fsgsbase
	}
	_, _, _, d := cpu.CPUID(1, 0)
	return uint64(d), hwcap2
}

// Yield lets others run that are ready, and costs little if there are none.
//
// Context: goroutine of a program's thread.
func Yield() { goruntime.Yield() }

// GiveWay lets the one run that the caller has woken, and costs little if there is none.
//
// Context: goroutine of a program's thread.
func GiveWay() { goruntime.GiveWay() }

func interrupt(id int) { cpu.SendIPI(id, amd64.VecWake) }

// Shootdown returns when no CPU uses translations of the tables at root any more that
// are older than the call. The caller has changed the tables and then counted
// their generation up: a CPU that enters ring 3 from now on reloads them. So those
// that are there are sent out of it; the kernel itself never uses a program's
// translations.
//
// A CPU says which tables it is about to load before it loads them, so one that is seen
// in ring 3 with other tables loads these, if at all, after the change.
func Shootdown(root uint64) {
	for id := range cpu.Num() {
		r := trap.Ring3Of(id)
		if entered := r.EnteredNow(); r.Has(root) {
			interrupt(id)
			for r.Has(root) && r.EnteredNow() == entered {
				cpu.Pause()
			}
		}
	}
}

// Retire makes every CPU that has loaded the tables at root load the kernel's: they
// may be freed then. No thread enters ring 3 with them any more, or none that looks at what
// they lose, so a CPU that has others now does not load them: most have, and to
// interrupt them at the end of each process is what costs most on several CPUs.
func Retire(root uint64) {
	leaveHere(root)
	for id := range cpu.Num() {
		if trap.Ring3Of(id).Loaded(root) {
			smp.CallAll(func() { user.LeaveTables(root, mm.Tables.Root) })
			return
		}
	}
}

// leaveHere is nosplit because a stack check might change the CPU.
//
//go:nosplit
func leaveHere(root uint64) {
	flags := cpu.IRQOff()
	user.LeaveTables(root, mm.Tables.Root)
	cpu.IRQRestore(flags)
}
