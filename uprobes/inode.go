package uprobes

import (
	"cmp"
	"slices"
	"syscall"

	"sonde/kernel/mm/backing"
	"sonde/kernel/refusal"
	"sonde/linux/proc"
	"sonde/linux/space"
)

func inodeOf(id backing.Ident) Inode { return Inode{id.Dev, id.Inode} }

// before compares f's offset with off.
func before(f *file, off uint64) int { return cmp.Compare(f.off, off) }

// list lets processes that map f's file find f. mu held.
func (f *file) list() {
	files = append(files, f)
	id := inodeOf(f.ident)
	all := byInode[id]
	i, _ := slices.BinarySearchFunc(all, f.off+1, before)
	byInode[id] = slices.Insert(all, i, f)
}

// unlist undoes list. mu held.
func (f *file) unlist() {
	is := func(o *file) bool { return o == f }
	files = slices.DeleteFunc(files, is)
	id := inodeOf(f.ident)
	if byInode[id] = slices.DeleteFunc(byInode[id], is); len(byInode[id]) == 0 {
		delete(byInode, id)
	}
}

// executable returns the areas of p that can have file probes. mu held.
func executable(p *proc.Process) []space.Area {
	mem := p.Memory()
	if mem == nil {
		return nil
	}
	return slices.DeleteFunc(mem.Areas(), func(a space.Area) bool {
		return a.Prot&space.Exec == 0 || byInode[inodeOf(a.Ident)] == nil
	})
}

// rearm puts those file probes into a process that are missing there.
func rearm(p *proc.Process) {
	mu.Lock()
	defer mu.Unlock()
	for _, a := range executable(p) {
		all := byInode[inodeOf(a.Ident)]
		i, _ := slices.BinarySearchFunc(all, a.Offset, before)
		for ; i < len(all) && all[i].off-a.Offset < a.End-a.Start; i++ {
			all[i].arm(p, a)
		}
	}
}

// armIn puts f into a process that maps its file. mu held.
func (f *file) armIn(p *proc.Process) {
	for _, a := range executable(p) {
		if inodeOf(a.Ident) == inodeOf(f.ident) && f.off >= a.Offset && f.off-a.Offset < a.End-a.Start {
			f.arm(p, a)
		}
	}
}

// arm puts f into an area, if f is for that process; if it cannot, that is counted. mu held.
func (f *file) arm(p *proc.Process, a space.Area) {
	if u := f.o.u; u.Pid != 0 && u.Pid != p.PID || u.Comm != "" && u.Comm != p.Name() {
		return
	}
	tk, err := join(p)
	if err != nil {
		return // it has ended
	}
	at := spot{f, a.Start + f.off - a.Offset}
	switch {
	case tk.placed[at]:
		return
	case a.Shared:
		err = errShared
	default:
		err = tk.addFile(at)
	}
	if err != nil {
		tk.lose(f.counter, at.addr, err)
		tk.unused()
	}
}

var errShared = refusal.New(syscall.EACCES, "the file is mapped shared there: a breakpoint would be in the file")

// beginsDisabled disables m, which no hit finds yet, if off says so.
func (m *member) beginsDisabled(off bool) {
	if off && !m.ends() {
		m.flags.Set(disabled)
	}
}

func (tk *task) addFile(at spot) error {
	f := at.file
	ms, err := tk.add(f.o, at.addr)
	if err != nil {
		return err
	}
	for _, m := range ms {
		m.file, m.Counter = f, f.counter
		m.beginsDisabled(f.disabled)
	}
	tk.list(ms)
	if tk.placed == nil {
		tk.placed = map[spot]bool{}
	}
	tk.placed[at] = true
	return nil
}
