package sysbpf

import (
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/program"
)

// rawPoints are the raw tracepoints, by Linux's names: both have the address of the registers, and the number of
// the call or its result.
var rawPoints = map[string]attach.Site{
	"sys_enter": {Kind: attach.Call, Symbol: "*"},
	"sys_exit":  {Kind: attach.Call, Symbol: "*", Return: true},
}

// linkRaw is RAW_TRACEPOINT_OPEN: name 0, prog_fd 8. Without a name, it attaches a tracing program.
func linkRaw(c *call, p *program.Prog) (uint64, error) {
	if p.Function != nil && c.u64(0) == 0 {
		return c.linkTracing(p, 0)
	}
	if p.Type() != bpf.RawTracepoint {
		return 0, refusal.New(syscall.EINVAL, "a program of type %s is not for a raw tracepoint", p.Type())
	}
	name, err := c.text(c.u64(0), rawNameMost)
	if err != nil {
		return 0, err
	}
	site, ok := rawPoints[name]
	if !ok {
		return 0, refusal.New(syscall.ENOENT, "there is no raw tracepoint %q: give sys_enter or sys_exit", name)
	}
	l, err := p.Attach([]attach.Site{site}, &program.Options{Options: attach.Options{Owner: "bpf"}, Through: rawArguments})
	return c.attached(l, err, &linkState{kind: linkRawPoint, name: name})
}

// rawNameMost is how many bytes the name of a raw tracepoint has.
const rawNameMost = 127

// rawArguments calls a program with the arguments of a raw tracepoint: it may read more words than there are.
//
// Context: the thread's goroutine.
func rawArguments(h *attach.Hit, program attach.Handler) bool {
	hit := *h
	hit.Data = make([]uint64, rawArgsMost/8)
	hit.Data[0], hit.Data[1] = uint64(uintptr(unsafe.Pointer(h.Regs))), h.Regs.AX
	program(&hit)
	return true
}
