// Package initrd makes archives of the host's files, which the kernel unpacks.
package initrd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sonde/kernel/vfs/cpio"
)

// ErrFile says that a file cannot be put into an archive.
var ErrFile = errors.New("cannot be added")

// Archive is the entries of an archive, by path in the guest.
type Archive struct {
	files map[string]cpio.Entry
	Deps  bool // of each program, add its interpreter and libraries

	Programs map[string]string // files of the host that were added and are programs, by path in the guest

	// Say gets a line about each script in a folder whose interpreter is missing; nil: no lines.
	Say io.Writer
}

// Add puts a file or folder of the host into the archive. spec is HOST[:GUEST]; a
// HOST without GUEST keeps its path if that is absolute. If not, a program gets /bin/NAME, so
// that its name starts it, and anything else /NAME. A symbolic link named here is followed;
// those in folders stay links.
//
// Errors: ErrFile, with the path and what is wrong with it.
func (a *Archive) Add(spec string) error {
	host, guest, ok := strings.Cut(spec, ":")
	info, err := os.Stat(host)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", host, ErrFile, err)
	}
	switch {
	case ok:
	case filepath.IsAbs(host):
		guest = host
	case info.Mode().IsRegular() && info.Mode()&0o111 != 0:
		guest = "/bin/" + filepath.Base(host)
	default:
		guest = filepath.Base(host)
	}
	if !info.IsDir() && strings.HasSuffix(guest, "/") {
		guest += filepath.Base(host)
	}
	return a.add(host, path.Clean("/"+filepath.ToSlash(guest)), info)
}

func (a *Archive) add(host, guest string, info fs.FileInfo) error {
	e := cpio.Entry{Mode: uint32(info.Mode().Perm()), Time: uint32(info.ModTime().Unix())}
	var err error
	switch {
	case info.IsDir():
		e.Mode |= cpio.Dir
		err = a.folder(host, guest)
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		e.Mode |= cpio.Symlink
		target, err = os.Readlink(host)
		e.Data = []byte(target)
	case info.Mode().IsRegular():
		e.Mode |= cpio.Regular
		e.Data, err = os.ReadFile(host)
	default:
		err = fmt.Errorf("not a file, folder or symbolic link: %v", info.Mode())
	}
	if err != nil {
		if errors.Is(err, ErrFile) {
			return err
		}
		return fmt.Errorf("%s: %w: %w", host, ErrFile, err)
	}
	a.put(guest, e)
	if bytes.HasPrefix(e.Data, []byte("\x7fELF")) && info.Mode()&0o111 != 0 {
		if a.Programs == nil {
			a.Programs = map[string]string{}
		}
		a.Programs[guest] = host
	}
	if a.Deps && info.Mode().IsRegular() {
		return a.addDeps(host, e.Data)
	}
	return nil
}

func (a *Archive) folder(host, guest string) error {
	list, err := os.ReadDir(host)
	if err != nil {
		return err
	}
	for _, d := range list {
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := filepath.Join(host, d.Name())
		err = a.add(file, path.Join(guest, d.Name()), info)
		if errors.Is(err, errInterpreter) && a.Say != nil {
			fmt.Fprintf(a.Say, "%s: added without what runs it: %v\n", file, cause(err))
		} else if err != nil && !errors.Is(err, errInterpreter) {
			return err
		}
	}
	return nil
}

// cause is the system's error in err.
func cause(err error) error {
	if missing := new(fs.PathError); errors.As(err, &missing) {
		return missing
	}
	return err
}

// put adds e under its name; the last put wins.
func (a *Archive) put(guest string, e cpio.Entry) {
	if guest == "/" {
		return
	}
	if a.files == nil {
		a.files = map[string]cpio.Entry{}
	}
	e.Name = strings.TrimPrefix(guest, "/")
	a.files[guest] = e
}

// has reports whether something is at a path of the guest.
func (a *Archive) has(guest string) bool {
	_, ok := a.files[guest]
	return ok
}

// WriteTo writes the archive, the same bytes for the same files.
func (a *Archive) WriteTo(w io.Writer) (int64, error) {
	if a.Deps {
		a.addCache()
	}
	var b bytes.Buffer
	c := cpio.NewWriter(&b)
	names := make([]string, 0, len(a.files))
	for name := range a.files {
		names = append(names, name)
	}
	slices.Sort(names) // folders before what is in them
	for i, name := range names {
		e := a.files[name]
		e.Ino = uint32(i + 1)
		if err := c.Add(e); err != nil {
			return 0, err
		}
	}
	if err := c.Close(); err != nil {
		return 0, err
	}
	return b.WriteTo(w)
}
