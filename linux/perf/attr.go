package perf

import (
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/sysctl"
)

// Attr says what an event is: Linux's struct perf_event_attr as it lies in memory.
type Attr struct {
	Type, Size          uint32
	Config              uint64
	Period              uint64 // or the frequency: FlagFreq
	Sample, Read, Flags uint64
	Wakeup              uint32
	BreakType           uint32
	Config1, Config2    uint64 // names and addresses
	BranchSample        uint64
	UserRegs            uint64
	UserStack           uint32
	ClockID             int32
	InterruptRegs       uint64
	AuxWatermark        uint32
	MostCalls           uint16
	reserved2           uint16
	AuxSize, reserved3  uint32
	SigData, Config3    uint64
}

// AttrSize is that of an Attr; LeastAttr is how many bytes the oldest one has, MostAttr how many any may have.
const (
	AttrSize  = 136
	LeastAttr = 64
	MostAttr  = 4096
)

// Types of events. Those from Kprobe on are ours: files in /sys say which numbers they have.
const (
	hardware   = 0
	software   = 1
	tracepoint = 2
	cache      = 3
	raw        = 4
	breakpoint = 5
	kprobe     = 6
	uprobe     = 7
)

// What a software event counts.
const (
	cpuClock        = 0
	taskClock       = 1
	pageFaults      = 2
	contextSwitches = 3
	minorFaults     = 5
	dummy           = 9
	bpfOutput       = 10
)

// Flags of an Attr.
const (
	flagDisabled      = 1 << 0
	flagInherit       = 1 << 1
	flagExcludeUser   = 1 << 4
	flagExcludeKernel = 1 << 5
	flagFreq          = 1 << 10
	flagEnableOnExec  = 1 << 12
	flagsReserved     = ^uint64(1<<38 - 1)
)

// Bits of Attr.Read: what a read returns beside the count.
const (
	readEnabled = 1 << iota
	readRunning
	readID
	readGroup
	readLost
	readReserved = ^uint64(1<<5 - 1)
)

// sampleReserved are the bits of Attr.Sample that Linux does not know.
const sampleReserved = ^uint64(1<<25 - 1)

// MaxRate is how many samples a second an event may ask for.
var maxRate = sysctl.NewRange("kernel.perf_event_max_sample_rate", 100_000, 1, 1_000_000, "samples that an event may ask for in a second")

// DecodeAttr reads an Attr of so many bytes, as its size says.
//
// Errors: E2BIG its size is none, or it has something that is not known here; EINVAL reserved bits are set.
func DecodeAttr(b []byte) (a Attr, err error) {
	known := abi.Bytes(&a)
	for _, v := range b[min(len(b), len(known)):] {
		if v != 0 {
			return a, refusal.New(syscall.E2BIG, "attr: there is something behind the first %d bytes", len(known))
		}
	}
	copy(known, b)
	a.Size = uint32(len(b))
	if a.reserved2 != 0 || a.reserved3 != 0 || a.Flags&flagsReserved != 0 || a.Read&readReserved != 0 || a.Sample&sampleReserved != 0 {
		return a, refusal.New(syscall.EINVAL, "attr: reserved bits are set")
	}
	return a, nil
}

// has reports whether a flag is set.
func (a *Attr) has(flag uint64) bool { return a.Flags&flag != 0 }

// fits checks what all events have in common.
//
// Errors: EINVAL; EOPNOTSUPP samples with something that is not written here.
func (a *Attr) fits() error {
	switch {
	case a.has(flagFreq) && a.Period > uint64(maxRate.Get()):
		return refusal.New(syscall.EINVAL, "%d samples a second: sysctl kernel.perf_event_max_sample_rate allows %d", a.Period, maxRate.Get())
	case !a.has(flagFreq) && a.Period>>63 != 0:
		return refusal.New(syscall.EINVAL, "a period of %#x", a.Period)
	case a.Sample&^sampleKnown != 0:
		return refusal.New(syscall.EOPNOTSUPP, "samples with %#x: there are %#x", a.Sample, uint64(sampleKnown))
	case a.has(flagInherit) && a.Type == breakpoint:
		return refusal.New(syscall.EOPNOTSUPP, "breakpoints that children inherit")
	}
	return nil
}

// NameAt is the address of the name that the event is about, in the program; 0: it has none.
func (a *Attr) NameAt() uint64 {
	if a.Type == kprobe || a.Type == uprobe {
		return a.Config1
	}
	return 0
}

// IsFile reports whether that name is a file's.
func (a *Attr) IsFile() bool { return a.Type == uprobe && a.Config1 != 0 }
