// Package symbols names addresses of programs, also of those that have ended meanwhile: their files say which
// functions they have.
package symbols

import (
	"slices"
	"sync"

	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/linux/space"
)

// Names knows what was mapped where in all processes since it was made.
type Names struct {
	table  *proc.Table
	engine proc.Engine

	mu sync.Mutex
	// guarded by mu:
	ended []process // the last at the end
	areas int       // of all these
	files map[string]*file
}

// process is the code of files that a process had mapped when it ended.
type process struct {
	pid   int
	areas []space.Area
}

// file is a program's or a library's; program is nil if it is none that can be read.
type file struct {
	opened  *vfs.File
	program *program.File
}

// most is how many processes that have ended are remembered, and mostAreas how many areas they have together.
const (
	most      = 1024
	mostAreas = 1 << 16
)

// Watch begins to note what processes have mapped, until Close.
func Watch(t *proc.Table) *Names {
	n := &Names{table: t, files: map[string]*file{}}
	n.engine.End = n.note
	t.Watch(&n.engine)
	return n
}

// note keeps what a process has mapped that ends.
func (n *Names) note(t *proc.Thread) {
	n.keep(t.Process().PID, t.Memory().Areas())
}

// keep remembers the code among areas, instead of that of the processes that ended first.
func (n *Names) keep(pid int, areas []space.Area) {
	var code []space.Area
	for _, a := range areas {
		if a.Prot&space.Exec != 0 && a.Ident.Name != "" && len(code) < mostAreas {
			code = append(code, a)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.areas += len(code)
	for len(n.ended) == most || n.areas > mostAreas {
		n.areas -= len(n.ended[0].areas)
		n.ended = slices.Delete(n.ended, 0, 1)
	}
	n.ended = append(n.ended, process{pid, code})
}

// Close ends it.
func (n *Names) Close() {
	n.table.Unwatch(&n.engine)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range n.files {
		if f.opened != nil {
			vfs.Close(f.opened)
		}
	}
	n.files = nil
}

// Name returns the function of a process that an address is in, and how far; pid 0: of the process that ended
// last and has a function there, or of the youngest that runs. ok is false if nothing is known of it.
func (n *Names) Name(addr uint64, pid int) (name string, off uint64, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, err := n.table.Find(pid); pid != 0 && err == nil && p.Memory() != nil {
		if name, off, ok = n.in(p.Memory().Areas(), addr); ok {
			return name, off, true
		}
	}
	for i := len(n.ended) - 1; i >= 0 && !ok; i-- {
		if p := n.ended[i]; pid == 0 || p.pid == pid {
			name, off, ok = n.in(p.areas, addr)
		}
	}
	if pid == 0 && !ok {
		return n.running(addr)
	}
	return name, off, ok
}

// running is Name for an address of any process that runs. Called with mu held.
func (n *Names) running(addr uint64) (name string, off uint64, ok bool) {
	for _, p := range slices.Backward(n.table.Processes()) {
		if mem := p.Memory(); mem != nil && !ok {
			name, off, ok = n.in(mem.Areas(), addr)
		}
	}
	return name, off, ok
}

// in names an address in the memory that these areas are. Called with mu held.
func (n *Names) in(areas []space.Area, addr uint64) (name string, off uint64, ok bool) {
	for _, a := range areas {
		if addr < a.Start || addr >= a.End {
			continue
		}
		f := n.file(a.Ident.Name)
		if f == nil {
			return "", 0, false
		}
		bias, ok := f.Bias(a.Start, a.Offset)
		if !ok {
			return "", 0, false
		}
		s, off, ok := f.At(addr - bias)
		return s.Name, off, ok && s.Name != ""
	}
	return "", 0, false
}

// file returns what the file at a path says; nil: nothing. Called with mu held.
func (n *Names) file(path string) *program.File {
	if path == "" || path[0] != '/' {
		return nil
	}
	f := n.files[path]
	if f == nil {
		f = new(file)
		n.files[path] = f
		if opened, err := vfs.Open(path, vfs.O_RDONLY); err == nil {
			f.opened = opened
			f.program, _ = program.Open(opened) // a file that is no program has no functions
		}
	}
	return f.program
}
