package vdso

// Data is the data page as the functions read it.
type Data struct {
	Base, Mul uint64        // of the TSC: nanoseconds are (ticks - Base) * Mul / 2^32 + 1
	Offset    [clocks]int64 // of each clock, by its number: what is added; below 0: make the call
	// CPUSegment is the selector of the segment whose limit is the number of the CPU. 0: make
	// the call.
	CPUSegment uint32
}

const (
	pageSize = 4096

	clocks = 8 // those of higher numbers, and negative ones, are for the kernel

	// Numbers of the system calls.
	sysGettimeofday = 96
	sysTime         = 201
	sysClockGettime = 228
	sysClockGetres  = 229
	sysGetcpu       = 309
)

// Clocks sets the offsets: wall is that of the wall clock in nanoseconds.
func (d *Data) Clocks(wall int64) {
	const realtime, monotonic, processCPU, threadCPU, raw, realtimeCoarse, monotonicCoarse, boottime = 0, 1, 2, 3, 4, 5, 6, 7
	d.Offset = [clocks]int64{realtime: wall, realtimeCoarse: wall, processCPU: -1, threadCPU: -1}
}
