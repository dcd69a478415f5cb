package syscall

import "sonde/linux/proc"

// shorts are the system calls that are answered on the way into the kernel, by number: functions of
// the table that neither block nor allocate nor use XMM registers. The build fails if one does
// (kprobes/reach, short.go).
var shorts = [...]func(t *proc.Thread, a *Args) (uint64, error){
	39:  getpid,
	102: getid,
	104: getid,
	107: getid,
	108: getid,
	186: gettid,
}

// Shorts returns their numbers.
func Shorts() (numbers []int) {
	for n, f := range shorts {
		if f != nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// Short answers the system call of the current thread. It returns false if the call must be made as
// others are, by Handle: nothing has happened then.
//
// Context: interrupts off, on the thread's stack, which has little room: see user.SetShort.
//
//go:nosplit
func Short() (result uint64, ok bool) { return answer(proc.Current()) }

// answer is Short for any thread.
//
//go:nosplit
//go:noinline
func answer(t *proc.Thread) (result uint64, ok bool) {
	if t == nil || !t.Plain() {
		return 0, false
	}
	n := t.Regs().AX
	if n >= uint64(len(shorts)) || shorts[n] == nil {
		return 0, false
	}
	result, err := shorts[n](t, &t.Args)
	return result, err == nil
}
