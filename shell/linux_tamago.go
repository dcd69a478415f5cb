//go:build tamago && !nolinux

package shell

import (
	"fmt"
	"io"

	"sonde/arch/amd64/user"
	"sonde/kernel/attach"
	"sonde/kwatch"
	"sonde/linux/proc"
	"sonde/linux/usermode/bare"
	"sonde/uprobes/explain"
)

// explainFile draws a place in a program's file.
func explainFile(w io.Writer, at attach.Site) error { return explain.File(w, at) }

// explainAddress draws an address of a process.
func explainAddress(c *Context, w io.Writer, at attach.Site) error {
	p, err := c.programOf(at.PID)
	if err != nil {
		return err
	}
	return explain.Address(w, p.(process).Process, at.Addr)
}

// registerInProgram registers a watchpoint in the memory of a program, with q for its hits.
func (w *watch) registerInProgram(q kwatch.Queue) (reg int, err error) {
	return kwatch.RegisterKwatchUser(w.program.(process).Process, w.addr, w.length, w.typ, func(h *kwatch.Hit, _ *proc.Thread) { q.Put(h) })
}

// inRing3 runs code as a program.
func inRing3(code ...byte) error {
	const at = 0x400000
	s, err := bare.New()
	if err != nil {
		return err
	}
	page, err := s.Map(at, 0)
	if err != nil {
		return err
	}
	copy(page[:], code)
	c := s.Thread(at)
	for {
		if e := c.Run(); e.Exception() || e == user.SystemCall {
			return fmt.Errorf("ring 3 came back: event %#x at %#x", uint64(e), c.Regs.IP)
		}
	}
}
