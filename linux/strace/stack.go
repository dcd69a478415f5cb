package strace

import (
	"cmp"
	"fmt"
	"io"

	"sonde/kallsyms"
	"sonde/linux/proc"
)

// Symbols names addresses of programs.
type Symbols interface {
	Name(addr uint64, pid int) (at kallsyms.Named, ok bool)
}

// mostFrames is how many calls of a stack are printed.
const mostFrames = 64

// stack prints the calls that led to a thread's system call, the latest first, as strace -k does: the file, the function and how
// far in it, the address. mu held.
func (t *Tracer) stack(th *proc.Thread) {
	if t.Symbols == nil {
		return
	}
	for i, ip := range frames(th) {
		back := uint64(min(i, 1)) // a return address may be after the end of the function that has called
		at, ok := t.Symbols.Name(ip-back, th.Process().PID)
		function := ""
		if at.Function {
			function = fmt.Sprintf("%s+%#x", at.Name, at.Offset+back)
		}
		if !ok {
			at.File = "unexpected_backtracing_error"
		}
		fmt.Fprintf(t.out, " > %s(%s) [%#x]\n", cmp.Or(at.File, at.Name), function, ip)
	}
	io.WriteString(t.out, "\n")
}

// frames follows the frame pointers of a thread's program: where it is, and the return addresses. It ends where a frame does not lie
// above the one before.
func frames(th *proc.Thread) (ips []uint64) {
	r, mem := th.Regs(), th.Memory()
	ips = append(ips, r.IP)
	for frame, last := r.BP, uint64(0); frame > last && len(ips) < mostFrames; {
		next, ok := mem.PeekWord(frame)
		ip, ok2 := mem.PeekWord(frame + 8)
		if !ok || !ok2 || ip == 0 {
			break
		}
		ips, frame, last = append(ips, ip), next, frame
	}
	return ips
}
