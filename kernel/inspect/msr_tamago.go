//go:build tamago

package inspect

import (
	"sync"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/notifier"
	"sonde/kernel/refusal"
)

func rdmsr(msr uint32) (v, ok uint64)
func wrmsr(msr uint32, v uint64) (ok uint64)
func msrInstructions() (reads, writes uintptr)

// msrSize is the length of RDMSR and WRMSR.
const msrSize = 2

// catch makes #GP of the two instructions an answer.
var catch = sync.OnceFunc(func() {
	notifier.Die[amd64.VEC_GP].Register(&notifier.Block{Name: "inspect", Priority: 100, Call: onFault})
})

// onFault continues after an instruction that has failed. Context: trap.
func onFault(r *amd64.Regs, _ uint64) notifier.Action {
	reads, writes := msrInstructions()
	if at := uintptr(r.IP); at != reads && at != writes {
		return notifier.Next
	}
	r.IP += msrSize
	r.BX = 0
	return notifier.Stop
}

// ReadMSR reads a register of the CPU that this runs on.
//
// Errors: EIO there is no such register.
func ReadMSR(msr uint32) (uint64, error) {
	catch()
	v, ok := rdmsr(msr)
	if ok == 0 {
		return 0, refusal.New(syscall.EIO, "this processor has no MSR %#x", msr)
	}
	return v, nil
}

// WriteMSR writes a register of the CPU that this runs on. What that does is the caller's
// business: the kernel may not survive it.
//
// Errors: EIO there is no such register, or it does not accept the value.
func WriteMSR(msr uint32, v uint64) error {
	catch()
	if wrmsr(msr, v) == 0 {
		return refusal.New(syscall.EIO, "write %#x to MSR %#x: there is no such register, or it does not accept the value", v, msr)
	}
	return nil
}
