// Package process makes /proc/PID and /proc/self, in the formats of Linux.
//
// Missing: the fields of stat about data and heap are 0, and threads have the name of their
// process.
package process

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"syscall"

	"sonde/kernel/procfs"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/linux/desc"
	"sonde/linux/proc"
)

// files is what a process's Resources have.
type files interface {
	Descriptors() *desc.Table
	Cwd() *vfs.Place
}

// Mount gives /proc of a tree a folder for each process of a table.
//
// Errors: as vfs.FS.Extend.
func Mount(tree *vfs.FS, table *proc.Table) error {
	return tree.Extend("/proc", ctl.Dir{
		List: func() []string {
			names := []string{"self", "1"}
			for _, p := range table.Processes() {
				names = append(names, strconv.Itoa(p.PID))
			}
			return names
		},
		Node: func(name string) vfs.Node {
			if name == "self" {
				return self{}
			}
			pid, err := strconv.Atoi(name)
			if err != nil || strconv.Itoa(pid) != name {
				return nil
			}
			p, err := table.Find(pid)
			if err != nil {
				return nil
			}
			return home{owner{tree, p, whole(p)}.folder(ofProcess, ofBoth), p}
		},
	})
}

// home is /proc/PID, which pidfd_send_signal takes for the process.
type home struct {
	ctl.Dir
	process *proc.Process
}

// Process returns the process whose folder it is, also once that has ended.
func (h home) Process() *proc.Process { return h.process }

// tasks is /proc/PID/task: a folder for each thread.
func tasks(tree *vfs.FS, p *proc.Process) vfs.Node {
	return ctl.Dir{
		List: func() (names []string) {
			for _, tid := range p.Facts().Threads {
				names = append(names, strconv.Itoa(tid))
			}
			return names
		},
		Node: func(name string) vfs.Node {
			tid, err := strconv.Atoi(name)
			if err != nil || strconv.Itoa(tid) != name {
				return nil
			}
			if _, ok := p.ThreadFacts(tid); !ok {
				return nil
			}
			return owner{tree, p, thread(p, tid)}.folder(ofBoth)
		},
	}
}

// self is /proc/self: it stands for the folder of the process that asks. It implements vfs.Link.
type self struct{ link }

// TargetFor implements vfs.Viewed.
//
// Errors: ENOENT for the kernel, which is no process.
func (self) TargetFor(viewer any) (string, error) {
	if p, ok := viewer.(*proc.Process); ok {
		return strconv.Itoa(p.PID), nil
	}
	return "", syscall.ENOENT
}

func (self) Target() (string, error) { return "", syscall.ENOENT }

// link is what all links here are. It implements vfs.Node.
type link struct{}

func (link) Stat() vfs.Info { return vfs.Info{Mode: fs.ModeSymlink | 0777} }

// owner is whose folder it is: a process, or a thread of it.
type owner struct {
	tree *vfs.FS
	p    *proc.Process
	who  func() subject
}

// nodes make the files of a folder, each when it is looked up: a program's start asks for one.
type nodes map[string]func(owner) vfs.Node

// ofProcess are the files of /proc/PID that a thread's folder has not.
var ofProcess = nodes{
	"task":            func(o owner) vfs.Node { return tasks(o.tree, o.p) },
	"timerslack_ns":   func(o owner) vfs.Node { return slack(o.p) },
	"coredump_filter": func(o owner) vfs.Node { return coreFilter(o.p) },
}

// ofBoth are the files of /proc/PID, and of a thread's folder below it.
var ofBoth = nodes{
	"cmdline": func(o owner) vfs.Node { return ctl.Text(o.p.CommandLine) },
	"environ": func(o owner) vfs.Node { return ctl.Text(o.p.Environment) },
	"auxv":    func(o owner) vfs.Node { return ctl.Text(func() string { return string(o.p.Facts().Layout.Auxv) }) },
	"comm":    func(o owner) vfs.Node { return ctl.Text(func() string { return o.p.Name() + "\n" }) },
	"maps":    func(o owner) vfs.Node { return ctl.Print(func(w io.Writer) { printMaps(w, o.p) }) },
	"stat":    func(o owner) vfs.Node { return ctl.Text(func() string { return stat(o.p, o.who()) }) },
	"statm":   func(o owner) vfs.Node { return ctl.Text(func() string { return statm(o.p) }) },
	"status":  func(o owner) vfs.Node { return ctl.Text(func() string { return status(o.p, o.who()) }) },
	"mem":     func(o owner) vfs.Node { return memory{o.p} },
	"pagemap": func(o owner) vfs.Node { return pagemap{o.p} },
	"cgroup":  func(owner) vfs.Node { return ctl.Text(func() string { return "" }) }, // as in Linux where no hierarchy is mounted

	"syscall": func(o owner) vfs.Node { return ctl.Text(func() string { return callText(o.p.Waiting(o.who().id)) }) },
	"wchan":   func(o owner) vfs.Node { return ctl.Text(func() string { return channel(o.p.Waiting(o.who().id)) }) },
	"stack":   func(o owner) vfs.Node { return ctl.Text(func() string { return stackText(o.p.Waiting(o.who().id)) }) },

	"exe":    func(o owner) vfs.Node { return place{target: func() (string, error) { return found(o.p.Facts().Exe) }} },
	"root":   func(owner) vfs.Node { return place{target: func() (string, error) { return "/", nil }} },
	"cwd":    func(o owner) vfs.Node { return cwd(o.p) },
	"fd":     func(o owner) vfs.Node { return descriptors(o.tree, o.p) },
	"fdinfo": func(o owner) vfs.Node { return descriptorInfo(o.p) },
	"ns":     func(o owner) vfs.Node { return namespaces(o.tree) },

	"mounts":    func(o owner) vfs.Node { return ctl.Print(func(w io.Writer) { procfs.Mounts(w, o.tree) }) },
	"mountinfo": func(o owner) vfs.Node { return ctl.Print(func(w io.Writer) { procfs.MountInfo(w, o.tree) }) },
}

// folder has the files of all the given nodes.
func (o owner) folder(all ...nodes) ctl.Dir {
	return ctl.Dir{
		List: func() (names []string) {
			for _, some := range all {
				names = slices.AppendSeq(names, maps.Keys(some))
			}
			return names
		},
		Node: func(name string) vfs.Node {
			for _, some := range all {
				if node := some[name]; node != nil {
					return node(o)
				}
			}
			return nil
		},
	}
}

func found(path string) (string, error) {
	if path == "" {
		return "", syscall.ENOENT
	}
	return path, nil
}

func printMaps(w io.Writer, p *proc.Process) {
	if m := p.Memory(); m != nil {
		m.WriteTo(w)
		fmt.Fprintf(w, "%x-%x --xp 00000000 00:00 0                  [vsyscall]\n", proc.VsyscallPage, proc.VsyscallPage+1<<12)
	}
}

// place is a link to a path. It implements vfs.Link and vfs.Magic.
type place struct {
	link
	target func() (string, error)
}

func (l place) Target() (string, error) { return l.target() }
func (place) Magic()                    {}

// jump is a link to what has been found already. It implements vfs.Jumper.
type jump struct {
	place
	to func() (vfs.Place, error)
}

func (l jump) Jump() (vfs.Place, error) { return l.to() }

// open returns what a process has of files; nil once it has ended.
func open(p *proc.Process) files {
	f, ok := p.Resources().(files)
	if !ok || p.Memory() == nil {
		return nil
	}
	return f
}

func cwd(p *proc.Process) vfs.Node {
	find := func() (*vfs.Place, error) {
		if f := open(p); f != nil {
			return f.Cwd(), nil
		}
		return nil, syscall.ENOENT
	}
	l := jump{}
	l.target = func() (string, error) {
		at, err := find()
		if err != nil {
			return "", err
		}
		return at.Describe(), nil
	}
	l.to = func() (vfs.Place, error) {
		at, err := find()
		if err != nil {
			return vfs.Place{}, err
		}
		return *at, nil
	}
	return l
}

// descriptors is /proc/PID/fd.
func descriptors(tree *vfs.FS, p *proc.Process) vfs.Node {
	return eachDescriptor(p, func(_ int, file *vfs.File) vfs.Node {
		l := jump{}
		l.target = func() (string, error) { return describe(file), nil }
		l.to = func() (vfs.Place, error) { return tree.PlaceOf(file), nil }
		return l
	})
}

// eachDescriptor is a folder with what node makes of each open file of p.
func eachDescriptor(p *proc.Process, node func(fd int, file *vfs.File) vfs.Node) vfs.Node {
	return ctl.Dir{
		List: func() (names []string) {
			if f := open(p); f != nil {
				for _, fd := range f.Descriptors().Open() {
					names = append(names, fmt.Sprint(fd))
				}
			}
			return names
		},
		Node: func(name string) vfs.Node {
			fd, err := strconv.Atoi(name)
			f := open(p)
			if err != nil || f == nil {
				return nil
			}
			file, err := f.Descriptors().Get(fd)
			if err != nil {
				return nil
			}
			return node(fd, file)
		},
	}
}

func describe(f *vfs.File) string {
	if at := f.Place(); at != nil {
		return at.Describe()
	}
	return f.Name()
}
