//go:build !nolinux

package shell

import (
	"fmt"
	"strings"
	"syscall"

	"sonde/kernel/attach"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/linux/space"
)

// variableIn returns where a variable or a function of a program's file is in the memory of a process, and how
// long it is.
//
// Errors: those of reading the file; ENOENT, EADDRNOTAVAIL as program.Variable; those of program.FindOne; ESRCH the process has not
// mapped the file.
func variableIn(p *proc.Process, at attach.Site) (addr, size uint64, err error) {
	err = program.Read(at.File, func(f *program.File) error {
		var v program.Symbol
		if err := variableOf(f, at, &v); err != nil {
			return err
		}
		bias, err := biasIn(p, f, at.File)
		addr, size = v.Addr+bias+at.Offset, v.Size-min(at.Offset, v.Size)
		return err
	})
	return addr, size, err
}

// variableOf finds what is watched in a file: a variable, or a function if its execution is.
func variableOf(f *program.File, at attach.Site, v *program.Symbol) (err error) {
	if at.Access != attach.Execute {
		*v, err = f.Variable(at.Symbol)
	} else {
		var spot program.Spot
		if spot, err = f.FindOne(at.Symbol, at.Offset); err == nil {
			*v, err = spot.Fn, f.Boundary(spot.Addr)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at.File, err)
	}
	return nil
}

// biasIn is what is to be added to the addresses of a file where a process has it mapped.
func biasIn(p *proc.Process, f *program.File, path string) (uint64, error) {
	if mem := p.Memory(); mem != nil {
		for _, a := range mem.Areas() {
			if bias, ok := f.Bias(a.Start, a.Offset); ok && a.Ident.Name != "" && samePath(a.Ident.Name, path) {
				return bias, nil
			}
		}
	}
	return 0, refusal.New(syscall.ESRCH, "process %d does not run %s", p.PID, path)
}

// samePath tells whether two names lead to the same file, by at most one link each.
func samePath(a, b string) bool { return target(a) == target(b) }

func target(path string) string {
	to, err := vfs.Root.ReadlinkAt(vfs.Root.RootPlace(), path)
	switch {
	case err != nil:
		return path
	case strings.HasPrefix(to, "/"):
		return to
	}
	return path[:strings.LastIndexByte(path, '/')+1] + to
}

// writers names instructions of a process.
type writers struct {
	process *proc.Process
	areas   []space.Area // when it was made: the process may have ended when a hit is printed
	files   map[string]*program.File
	opened  []*vfs.File
}

func writersOf(p *proc.Process) *writers {
	w := &writers{process: p, files: map[string]*program.File{}}
	if mem := p.Memory(); mem != nil {
		w.areas = mem.Areas()
	}
	return w
}

func (w *writers) close() {
	for _, f := range w.opened {
		vfs.Close(f)
	}
}

// name is the instruction in front of ip: function, offset and, in a program in Go, file and line.
func (w *writers) name(ip uint64) string {
	areas := w.areas
	if mem := w.process.Memory(); mem != nil {
		areas = mem.Areas()
	}
	for _, a := range areas {
		if f := w.file(a.Ident.Name); f != nil && ip > a.Start && ip <= a.End {
			if bias, ok := f.Bias(a.Start, a.Offset); ok {
				return named(f, f.Before(ip-bias), ip)
			}
		}
	}
	return fmt.Sprintf("before ip %#x", ip)
}

// named names the instruction at an address of a file.
func named(f *program.File, at, ip uint64) string {
	s, off, ok := f.At(at)
	if !ok || s.Name == "" {
		return fmt.Sprintf("before ip %#x", ip)
	}
	text := fmt.Sprintf("%s+%#x", s.Name, off)
	if line, ok := f.Line(at); ok {
		text += "  " + line
	}
	return text
}

// file is what the file of that name says; nil: nothing.
func (w *writers) file(path string) *program.File {
	f, known := w.files[path]
	if known || !strings.HasPrefix(path, "/") {
		return f
	}
	if opened, err := vfs.Open(path, vfs.O_RDONLY); err == nil {
		w.opened = append(w.opened, opened)
		f, _ = program.Open(opened) // what is no program has no functions
	}
	w.files[path] = f
	return f
}
