package user

// Short calls are system calls that neither block nor allocate and touch no XMM register: getpid and
// its like. fromSyscall answers them with interrupts off, and Run does not return. To whoever wants
// something of the thread or of its CPU meanwhile, it is in ring 3 all the time: Ring3.Context is
// set, so a request is an interrupt, which comes as soon as the program continues. Of the registers,
// only FS and X15 are changed, which Go code needs as it expects them.
//
// That the code keeps to this is checked when the kernel is built: see kprobes/reach, short.go.

// calls is how many numbers of system calls can be short.
const calls = 512

var (
	short     [calls]bool                     // by number
	shortCall func() (result uint64, ok bool) // see SetShort
)

// SetShort makes the calls with these numbers short: call answers that of the goroutine that runs it,
// or reports that it must be made as others are.
//
// Context: goroutine, once, before any program runs.
func SetShort(numbers []int, call func() (result uint64, ok bool)) {
	shortCall = call
	for _, n := range numbers {
		short[n] = true
	}
}
