package sysbpf

import (
	"fmt"
	"syscall"

	"sonde/bpf"
	"sonde/bpf/btf"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/program"
	"sonde/probe/types"
)

// When a tracing program is called.
//
// Source: Linux, uapi/linux/bpf.h, enum bpf_attach_type.
const (
	forEntries = 24
	forReturns = 25
)

// trace finds what a tracing program is for: expected_attach_type 68, attach_btf_id 108, attach_btf_obj_fd 112.
func (s *progState) trace(c *call, p *bpf.Program) error {
	s.when, s.target = c.u32(68), c.u32(108)
	switch {
	case p.Type != bpf.Tracing:
		return nil
	case s.when != forEntries && s.when != forReturns:
		return c.missing(fmt.Sprintf("a tracing program for attach type %d", s.when))
	case s.target == 0:
		return refusal.New(syscall.EINVAL, "Tracing programs must provide btf_id")
	}
	if err := c.ofKernel(c.fd(112)); err != nil {
		return err
	}
	f, err := types.Numbered(btf.ID(s.target))
	if err != nil {
		return refusal.New(syscall.EINVAL, "attach_btf_id %d is not a function", s.target)
	}
	t, signature, err := types.Function(f.Addr)
	if err != nil {
		return err
	}
	var linux *kallsyms.LinuxName
	if f.Linux >= 0 {
		linux = &kallsyms.LinuxNames()[f.Linux]
	}
	s.function, err = program.NewFunction(t, signature, linux, s.when == forReturns)
	return err
}

// ofKernel checks that a descriptor is that of the kernel's types; 0 stands for them, too.
func (c *call) ofKernel(fd int) error {
	if fd == 0 {
		return nil
	}
	f, err := c.Hold(fd)
	if err != nil {
		return err
	}
	defer vfs.Close(f)
	if h, ok := f.Handle().(*btfFile); !ok || !h.b.kernel {
		return refusal.New(syscall.EINVAL, "descriptor %d is not the kernel's BTF: only functions of the kernel are traced", fd)
	}
	return nil
}

// linkTracing attaches a tracing program to its function.
func (c *call) linkTracing(p *program.Prog, cookie uint64) (uint64, error) {
	l, err := p.AttachFunction(cookie, "bpf")
	return c.attached(l, err, &linkState{kind: linkTrace})
}

// tracing tells of a link of a tracing program: attach_type 16, target_obj_id 20, target_btf_id 24.
func (i *info) tracing(p *program.Prog) {
	s := progStateOf(p)
	i.put32(16, s.when)
	i.put32(20, kernelBTF)
	i.put32(24, s.target)
}
