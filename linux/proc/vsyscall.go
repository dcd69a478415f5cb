package proc

import "syscall"

// VsyscallPage is the page of Linux's oldest calls without SYSCALL: three functions at fixed addresses, which old static programs
// call. As in Linux, the page is mapped for nobody (vsyscall=xonly): a call faults when it is fetched, and the
// kernel does what it asks for. It is no system call for engines.
//
// Source: Linux, arch/x86/entry/vsyscall/vsyscall_64.c, emulate_vsyscall.
const (
	VsyscallPage = uint64(0xffffffffff600000)
	vsyscallSize = 1024 // from one function to the next
)

// vsyscalls are the numbers of the system calls that do the same: gettimeofday, time, getcpu.
var vsyscalls = [...]uint64{96, 201, 309}

// vsyscall does what the function at addr does, in whose place the program has faulted. If it returns false, there
// is none, or it has no memory for the return address or the result, and nothing has changed.
func (t *Thread) vsyscall(addr uint64) (done bool) {
	const lost = ^uint64(syscall.EFAULT) + 1
	r, n := t.Regs(), (addr-VsyscallPage)/vsyscallSize
	if addr != r.IP || addr%vsyscallSize != 0 || n >= uint64(len(vsyscalls)) {
		return false
	}
	ret, err := t.Memory().LoadWord(r.SP)
	if err != nil {
		return false
	}
	was := *r
	r.AX = vsyscalls[n]
	if t.process.table.Syscall(t); r.AX == lost {
		*r = was
		return false
	}
	r.IP, r.SP = ret, r.SP+8
	return true
}
