// Package symbols names addresses of programs, also of those that have ended meanwhile: their files say which
// functions they have.
package symbols

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"sonde/kallsyms"
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
	jits  map[int]*jit // by process
}

// process is what a process had mapped when it ended.
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
	n := &Names{table: t, files: map[string]*file{}, jits: map[int]*jit{}}
	n.engine.End = n.note
	t.Watch(&n.engine)
	return n
}

// note keeps what a process has mapped that ends.
func (n *Names) note(t *proc.Thread) { n.keep(t.Process().PID, t.Memory().Areas()) }

// keep remembers these areas, instead of that of the processes that ended first.
func (n *Names) keep(pid int, areas []space.Area) {
	areas = areas[:min(len(areas), mostAreas)]
	n.mu.Lock()
	defer n.mu.Unlock()
	n.areas += len(areas)
	for len(n.ended) == most || n.areas > mostAreas {
		n.areas -= len(n.ended[0].areas)
		n.ended = slices.Delete(n.ended, 0, 1)
	}
	n.ended = append(n.ended, process{pid, areas})
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

// Name returns what is at an address of a process; pid 0: of the process that ended last and has a function there,
// or of the youngest that runs. It is the function; where none is known, the file, or what else is mapped. ok is
// false if nothing is known of it.
func (n *Names) Name(addr uint64, pid int) (at kallsyms.Named, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for areas, of := range n.processes(pid) {
		if found, mapped := n.in(areas, addr, of); mapped {
			if at, ok = found, true; pid != 0 || at.Function {
				break
			}
		}
	}
	return at, ok
}

// Before says which instruction of a process is in front of ip: its function and offset, and the line of its source if
// that is known.
func (n *Names) Before(ip uint64, pid int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for areas := range n.processes(pid) {
		i := areaOf(areas, ip-1)
		if i < 0 || !path.IsAbs(areas[i].Ident.Name) {
			continue
		}
		f := n.file(areas[i].Ident.Name)
		if f == nil {
			continue
		}
		bias, ok := f.Bias(areas[i].Start, areas[i].Offset)
		at := f.Before(ip - bias)
		if s, off, named := f.At(at); ok && named && s.Name != "" {
			line, _ := f.Line(at)
			return strings.TrimRight(fmt.Sprintf("%s+%#x  %s", s.Name, off, line), " ")
		}
	}
	return fmt.Sprintf("before ip %#x", ip)
}

// processes are what a process has mapped, or all; those that have ended come first if it is all.
func (n *Names) processes(pid int) iter.Seq2[[]space.Area, int] {
	return func(yield func([]space.Area, int) bool) {
		if p, err := n.table.Find(pid); pid != 0 && err == nil && p.Memory() != nil && !yield(p.Memory().Areas(), pid) {
			return
		}
		for _, p := range slices.Backward(n.ended) {
			if (pid == 0 || p.pid == pid) && !yield(p.areas, p.pid) {
				return
			}
		}
		for _, p := range slices.Backward(n.table.Processes()) {
			if mem := p.Memory(); pid == 0 && mem != nil && !yield(mem.Areas(), p.PID) {
				return
			}
		}
	}
}

// Area returns what a process has mapped at an address: the name of a file without folders, [heap], [stack], [anon]. ok is false if
// nothing is known of it.
func (n *Names) Area(addr uint64, pid int) (name string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for areas := range n.processes(pid) {
		if i := areaOf(areas, addr); i >= 0 {
			return areaName(areas[i]), true
		}
	}
	return "", false
}

// areaName is how people call an area: the file without folders, or what the kernel calls it.
func areaName(a space.Area) string {
	if a.Ident.Name == "" {
		return "[anon]"
	}
	return path.Base(a.Ident.Name)
}

// areaOf returns the index of the area that an address is in; -1: none.
func areaOf(areas []space.Area, addr uint64) int {
	return slices.IndexFunc(areas, func(a space.Area) bool { return addr >= a.Start && addr < a.End })
}

// in names an address in the memory of a process that these areas are. Called with mu held.
func (n *Names) in(areas []space.Area, addr uint64, pid int) (at kallsyms.Named, ok bool) {
	i := areaOf(areas, addr)
	if i < 0 {
		return at, false
	}
	a := areas[i]
	if a.Ident.Name == "" || a.Ident.Name[0] != '/' {
		return n.unnamed(a, addr, pid), true
	}
	at = kallsyms.Named{Name: path.Base(a.Ident.Name), Offset: addr - a.Start + a.Offset, File: a.Ident.Name}
	if f := n.file(a.Ident.Name); f != nil {
		if bias, ok := f.Bias(a.Start, a.Offset); ok {
			if s, off, ok := f.At(addr - bias); ok && s.Name != "" {
				at.Name, at.Offset, at.Function = program.Plain(s.Name), off, true
			}
		}
	}
	return at, true
}

// unnamed names an address in an area of no file. Called with mu held.
func (n *Names) unnamed(a space.Area, addr uint64, pid int) kallsyms.Named {
	if a.Prot&space.Exec != 0 {
		if f := n.made(pid).at(addr); f != nil {
			return kallsyms.Named{Name: f.name, Offset: addr - f.start, File: mapPath(pid), Function: true}
		}
	}
	name := areaName(a)
	return kallsyms.Named{Name: name, Offset: addr - a.Start, File: name}
}

// file returns what the file at a path says; nil: nothing. Called with mu held.
func (n *Names) file(path string) *program.File {
	f := n.files[path]
	if f == nil {
		f = new(file)
		n.files[path] = f
		if opened, err := vfs.Open(path, vfs.O_RDONLY); err == nil {
			f.opened = opened
			f.program, _ = program.OpenFile(opened) // a file that is no program has no functions
		}
	}
	return f.program
}
