package program

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// PinDir is the directory whose files keep objects.
const PinDir = "/sys/fs/bpf"

// An Object is a *Prog, a *Map or a *Link. It stays as long as its owner has not closed it, or a file in
// PinDir stands for it.
type Object interface {
	String() string
	// keep adds files that stand for the object, or takes them away. Errors: EBADF it is gone already.
	keep(n int) error
}

// String names the program, as errors and files do.
func (p *Prog) String() string { return fmt.Sprintf("prog %d %s", p.ID, p.Checked.Program.Name) }

// String names the map.
func (m *Map) String() string { return fmt.Sprintf("map %d %s", m.ID, m.Spec.Name) }

// String names the link.
func (l *Link) String() string { return fmt.Sprintf("link %d of %s", l.ID, l.Prog) }

// pins are the files.
var pins struct {
	sync.Mutex
	files map[string]Object
}

// Pin makes a file in PinDir that keeps an object until it is removed.
//
// Errors: EINVAL file is no name in PinDir; EEXIST there is such a file; EBADF the object is gone.
func Pin(file string, o Object) error {
	dir, name := path.Split(path.Clean(file))
	if dir != PinDir+"/" || name == "" {
		return refusal.New(syscall.EINVAL, "%s: files for programs, maps and links are in %s, which has no directories", file, PinDir)
	}
	pins.Lock()
	defer pins.Unlock()
	if old := pins.files[name]; old != nil {
		return refusal.New(syscall.EEXIST, "%s: there is such a file, for %s", file, old)
	}
	if err := o.keep(1); err != nil {
		return err
	}
	if pins.files == nil {
		pins.files = map[string]Object{}
	}
	pins.files[name] = o
	return nil
}

// Pinned returns what a file in PinDir stands for.
//
// Errors: ENOENT.
func Pinned(file string) (Object, error) {
	pins.Lock()
	defer pins.Unlock()
	if o := pins.files[strings.TrimPrefix(path.Clean(file), PinDir+"/")]; o != nil {
		return o, nil
	}
	return nil, refusal.New(syscall.ENOENT, "%s: there is no such file in %s", file, PinDir)
}

// Pins returns the files that stand for an object.
func Pins(o Object) (files []string) {
	pins.Lock()
	defer pins.Unlock()
	for name, other := range pins.files {
		if other == o {
			files = append(files, PinDir+"/"+name)
		}
	}
	slices.Sort(files)
	return files
}

// MountPins makes PinDir.
func MountPins(tree *vfs.FS) error { return tree.Bind(PinDir, pinned{}) }

// pinned is the directory PinDir. It implements vfs.Node, vfs.Mounted, vfs.Directory and vfs.Remover.
type pinned struct{}

func (pinned) Stat() vfs.Info     { return vfs.Info{Mode: fs.ModeDir | 0755} }
func (pinned) MountPoint() string { return PinDir }

func (pinned) Names() []string {
	pins.Lock()
	defer pins.Unlock()
	return slices.Collect(maps.Keys(pins.files))
}

// Lookup implements vfs.Directory: the file tells what it stands for.
func (pinned) Lookup(name string) (vfs.Node, error) {
	o, err := Pinned(name)
	if err != nil {
		return nil, err
	}
	return ctl.Text(func() string { return o.String() + "\n" }), nil
}

func (pinned) Remove(name string) error {
	pins.Lock()
	o := pins.files[name]
	delete(pins.files, name)
	pins.Unlock()
	if o == nil {
		return syscall.ENOENT
	}
	return o.keep(-1)
}
