package amd64

// Exception vectors.
const (
	VEC_DE  = 0
	VEC_DB  = 1
	VEC_NMI = 2
	VEC_BP  = 3
	VEC_OF  = 4
	VEC_BR  = 5
	VEC_UD  = 6
	VEC_NM  = 7
	VEC_DF  = 8
	VEC_TS  = 10
	VEC_NP  = 11
	VEC_SS  = 12
	VEC_GP  = 13
	VEC_PF  = 14
	VEC_MF  = 16
	VEC_AC  = 17
	VEC_MC  = 18
	VEC_XM  = 19
	VEC_VE  = 20
	VEC_CP  = 21
	VEC_HV  = 28
	VEC_VC  = 29
	VEC_SX  = 30

	Exceptions = 32 // vectors below are the processor's
)

// Interrupts, of devices and of other CPUs. 0x20-0x2f are the legacy interrupts
// from the IOAPIC, 0x30-0x3f messages of PCI devices (kernel/irq). The higher the vector, the
// more urgent it is to the APIC.
const (
	VecLegacy   = 0x20
	VecTimer    = 0xec
	VecStop     = 0xfb // stand still
	VecCall     = 0xfc // run a function on that CPU
	VecWake     = 0xfd // leave Idle
	VecSpurious = 0xff
)

// Software interrupts (INT n), and the vectors of soft traps, which enter the trap
// layer by a jump. The handlers are in the packages named.
const (
	VecExit     = 0x81 // kernel/die: a dying runtime gets off its stack
	VecOverflow = 0x82 // arch/amd64/trap: overflow the trap stack, for a test
	VecReturn   = 0x83 // kprobes: the trampoline of return probes; soft
	VecAbandon  = 0x84 // kprobes: the runtime abandons a handler (overlay, sonde_abandon_amd64.s)
	VecDetour   = 0x85 // kprobes: the detour of an optimized probe; soft
	VecSelf     = 0x86 // kernel/smp: a goroutine gets into interrupt context on its own CPU
)

// Neither a map nor filled at initialization: it is read before the runtime runs.
var vectorNames = [256]string{
	VEC_DE:  "#DE divide error",
	VEC_DB:  "#DB debug exception",
	VEC_NMI: "NMI",
	VEC_BP:  "#BP breakpoint",
	VEC_OF:  "#OF overflow",
	VEC_BR:  "#BR bound range exceeded",
	VEC_UD:  "#UD invalid opcode",
	VEC_NM:  "#NM device not available",
	VEC_DF:  "#DF double fault",
	9:       "coprocessor segment overrun",
	VEC_TS:  "#TS invalid TSS",
	VEC_NP:  "#NP segment not present",
	VEC_SS:  "#SS stack-segment fault",
	VEC_GP:  "#GP general protection",
	VEC_PF:  "#PF page fault",
	VEC_MF:  "#MF x87 floating-point error",
	VEC_AC:  "#AC alignment check",
	VEC_MC:  "#MC machine check",
	VEC_XM:  "#XM SIMD floating-point exception",
	VEC_VE:  "#VE virtualization exception",
	VEC_CP:  "#CP control protection",
	VEC_HV:  "#HV hypervisor injection",
	VEC_VC:  "#VC VMM communication",
	VEC_SX:  "#SX security exception",

	VecTimer:    "local timer",
	VecWake:     "wake-up IPI",
	VecCall:     "function call IPI",
	VecStop:     "stop machine IPI",
	VecSpurious: "spurious interrupt",
	VecSelf:     "call on the calling CPU",
}

// VectorName returns the mnemonic and name of an exception, or the purpose of an interrupt; any
// other vector is an "interrupt".
func VectorName(v uint8) string {
	switch {
	case vectorNames[v] != "":
		return vectorNames[v]
	case v < Exceptions:
		return "reserved exception"
	}
	return "interrupt"
}

// errorCodes has bit v set if exception v pushes an error code.
const errorCodes = 1<<VEC_DF | 1<<VEC_TS | 1<<VEC_NP | 1<<VEC_SS | 1<<VEC_GP |
	1<<VEC_PF | 1<<VEC_AC | 1<<VEC_CP | 1<<VEC_VC | 1<<VEC_SX

// HasErrorCode reports whether the processor pushes an error code for v.
func HasErrorCode(v uint8) bool { return v < Exceptions && errorCodes>>v&1 != 0 }
