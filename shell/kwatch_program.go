//go:build !nolinux

package shell

import (
	"fmt"
	"strings"

	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/linux/space"
)

// writers names instructions of a process.
type writers struct {
	process *proc.Process
	areas   []space.Area // the last ones that named an instruction: a hit may be printed when the process is ending or has ended
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
	if mem := w.process.Memory(); mem != nil {
		now := mem.Areas()
		if name, ok := w.nameIn(now, ip); ok {
			w.areas = now
			return name
		}
	}
	if name, ok := w.nameIn(w.areas, ip); ok {
		return name
	}
	return fmt.Sprintf("before ip %#x", ip)
}

func (w *writers) nameIn(areas []space.Area, ip uint64) (name string, ok bool) {
	for _, a := range areas {
		if f := w.file(a.Ident.Name); f != nil && ip > a.Start && ip <= a.End {
			if bias, ok := f.Bias(a.Start, a.Offset); ok {
				return named(f, f.Before(ip-bias), ip), true
			}
		}
	}
	return "", false
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
		f, _ = program.OpenFile(opened) // what is no program has no functions
	}
	w.files[path] = f
	return f
}
