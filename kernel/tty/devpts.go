package tty

import (
	"io/fs"
	"strconv"
	"sync"
	"syscall"

	"sonde/kernel/vfs"
)

// mostPTYs is how many pseudo-terminals there can be at a time, as in Linux.
const mostPTYs = 4096

// The numbers of the devices.
//
// Source: Linux, Documentation/admin-guide/devices.txt.
const (
	auxMajor   = 5
	ptmxMinor  = 2
	slaveMajor = 136
)

// ptys are the pseudo-terminals that are open, by number.
type ptys struct {
	signal func(group int, s Signal)
	leave  func(t *TTY)

	mu     sync.Mutex
	byName map[int]*Master // guarded by mu
}

// MountPTYs makes /dev/ptmx, which opens a new pseudo-terminal, and /dev/pts, where the
// slaves are. signal is as for New. leave is called when a master has been closed: whoever
// is controlled by the terminal loses it. Both may be nil.
//
// Errors: EEXIST (wrapped with the path).
func MountPTYs(tree *vfs.FS, signal func(group int, s Signal), leave func(t *TTY)) error {
	all := &ptys{signal: signal, leave: leave, byName: map[int]*Master{}}
	if err := tree.Bind("/dev/pts/ptmx", ptmx{all}); err != nil {
		return err
	}
	if err := tree.Extend("/dev/pts", slaves{all}); err != nil {
		return err
	}
	return tree.Bind("/dev/ptmx", ptmx{all})
}

// ptmx is the device that opens a pseudo-terminal. It implements vfs.Node.
type ptmx struct{ all *ptys }

func (ptmx) Stat() vfs.Info {
	return vfs.Info{Mode: fs.ModeDevice | fs.ModeCharDevice | 0666, RDev: vfs.MakeDev(auxMajor, ptmxMinor)}
}

// Open implements vfs.Opener.
//
// Errors: ENOSPC.
func (p ptmx) Open(int) (vfs.Handle, error) { return p.all.add() }

func (a *ptys) add() (vfs.Handle, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := range mostPTYs {
		if a.byName[n] == nil {
			m := newMaster(a, a.signal)
			m.Number = n
			a.byName[n] = m
			return m, nil
		}
	}
	return nil, syscall.ENOSPC
}

func (a *ptys) remove(m *Master) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byName, m.Number)
}

func (a *ptys) find(n int) *Master {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byName[n]
}

// slaves is the directory /dev/pts, with the names in it. It implements vfs.Node and vfs.Directory.
type slaves struct{ all *ptys }

func (slaves) Stat() vfs.Info { return vfs.Info{Mode: fs.ModeDir | 0755} }

func (s slaves) Names() (names []string) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	for n := range s.all.byName {
		names = append(names, strconv.Itoa(n))
	}
	return names
}

// Lookup implements vfs.Directory.
//
// Errors: ENOENT.
func (s slaves) Lookup(name string) (vfs.Node, error) {
	n, err := strconv.Atoi(name)
	if err != nil || strconv.Itoa(n) != name {
		return nil, syscall.ENOENT
	}
	m := s.all.find(n)
	if m == nil {
		return nil, syscall.ENOENT
	}
	return &Device{TTY: m.TTY, Major: slaveMajor, Minor: uint32(n)}, nil
}

// Number returns that of the device, as /proc/PID/stat shows it.
func (t *TTY) Number() int {
	if t.master != nil {
		return int(vfs.MakeDev(slaveMajor, uint32(t.master.Number)))
	}
	return auxMajor<<8 | 1
}

// IsSlave reports whether t is a pseudo-terminal's.
func (t *TTY) IsSlave() bool { return t.master != nil }

// Current is /dev/tty: the terminal that controls whoever opens it. A caller that knows
// who that is opens that terminal in its place; for the kernel it is Device's.
type Current struct{ *Device }
