//go:build tamago && !nolinux

package shell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"sonde/arch/amd64/user"
	"sonde/kwatch"
	"sonde/linux/proc"
	"sonde/linux/symbols"
	"sonde/linux/usermode/bare"
	"sonde/probe/attach"
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

// find finds what is to be watched in the memory of a program, and gets ready to name what writes it.
func (w *watch) find(p Program) (err error) {
	of := p.(process).Process
	w.program = p
	if w.site.File != "" {
		w.addr, w.length, err = kwatch.In(of, w.site)
	}
	names := symbols.Watch(of.Table())
	w.writer, w.close = func(ip uint64) string { return names.Before(ip, of.PID) }, names.Close
	return err
}

// alongProgram runs a program, and calls f before its first instruction. That there is no such variable is known
// before.
func (w *watch) alongProgram(c *Context, args []string, f func(Program)) error {
	path, err := c.Shell.findProgram(args[0])
	var at *fs.PathError
	if errors.As(err, &at) { // its path is that of args[0]
		err = at.Err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	v, err := kwatch.FindVariable(w.site)
	if err != nil {
		return err
	}
	v.Close()
	return runProgram(c, path, args, f)
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
