//go:build tamago && !nolinux

package shell

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sonde/arch/amd64/user"
	"sonde/kwatch"
	"sonde/linux/proc"
	"sonde/linux/usermode/bare"
	"sonde/uprobes/explain"
)

// explainFile draws a place in a program's file.
func explainFile(w io.Writer, path, where string) error { return explain.File(w, path, where) }

// explainAddress draws an address of a process.
func explainAddress(c *Context, w io.Writer, pid, addr string) error {
	a, err := strconv.ParseUint(strings.TrimPrefix(addr, "0x"), 16, 64)
	if err != nil {
		return Usagef("%q is not an address", addr)
	}
	p, err := c.programOf(pid)
	if err != nil {
		return err
	}
	return explain.Address(w, p.(process).Process, a)
}

// registerInProgram registers a watchpoint in the memory of a program, with q for its hits.
func (w *watch) registerInProgram(q *kwatch.Queue) (reg int, err error) {
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
