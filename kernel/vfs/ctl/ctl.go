// Package ctl makes control files: a file in /proc or /sys is a pair of functions.
//
// The contents are made when the file is opened, so a reader that takes them in small pieces gets
// one consistent state. A write passes on exactly the bytes of one call of vfs.Write, without the
// final newline. A Stream is a file whose text comes while it is read, a Dir a directory whose entries
// are made when they are looked up.
package ctl

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/sysctl"
)

// File is a control file. A nil function makes the file write-only or read-only; the mode says so,
// and vfs refuses the other access with EACCES.
type File struct {
	Read  func() ([]byte, error)
	Write func(p []byte) error
	Size  func() int64 // in bytes, for tools that read no more than that; nil: 0, as most have in Linux
}

// Text is a read-only file that holds what f returns.
func Text(f func() string) File {
	return File{Read: func() ([]byte, error) { return []byte(f()), nil }}
}

// Print is a read-only file that holds what f prints.
func Print(f func(w io.Writer)) File {
	return File{Read: func() ([]byte, error) {
		var b bytes.Buffer
		f(&b)
		return b.Bytes(), nil
	}}
}

// Viewed is a file that has something else for programs than for the kernel, whose prompt it serves.
type Viewed struct {
	File
	Programs File
}

// OpenFor implements vfs.ViewedOpener.
//
// Errors: those of File.Open.
func (v Viewed) OpenFor(viewer any, flag int) (vfs.Handle, error) {
	if viewer == nil {
		return v.Open(flag)
	}
	return v.Programs.Open(flag)
}

// Switch is a file that holds 1 or 0, which is what get returns; writing calls set with what Linux takes
// of a bool.
func Switch(get func() bool, set func(on bool) error) File {
	return File{
		Read: func() ([]byte, error) {
			if get() {
				return []byte("1\n"), nil
			}
			return []byte("0\n"), nil
		},
		Write: func(p []byte) error {
			on, ok := sysctl.ParseBool(string(p))
			if !ok {
				return refusal.New(syscall.EINVAL, "%s: write 0 or 1", sysctl.Quote(string(p)))
			}
			return set(on)
		},
	}
}

// Line prints a line of a table, without the blanks at its end.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// Stat implements vfs.Node: mode 0644, 0444 or 0200.
func (f File) Stat() vfs.Info {
	var mode fs.FileMode
	if f.Read != nil {
		mode |= 0444
	}
	if f.Write != nil {
		mode |= 0200
	}
	i := vfs.Info{Mode: mode}
	if f.Size != nil {
		i.Size = f.Size()
	}
	return i
}

// mostHeld bounds the texts of all open control files together: a program may hold a thousand
// descriptors of a long one.
const mostHeld = 32 << 20

var held atomic.Int64

// Open implements vfs.Opener.
//
// Errors: those of Read; ENOMEM while open files hold too much text.
func (f File) Open(flag int) (vfs.Handle, error) {
	h := &handle{write: f.Write}
	if flag&(os.O_WRONLY|os.O_RDWR) != os.O_WRONLY && f.Read != nil {
		text, err := f.Read()
		if err != nil {
			return nil, err
		}
		if held.Add(int64(len(text))) > mostHeld {
			held.Add(-int64(len(text)))
			return nil, syscall.ENOMEM
		}
		h.text = text
	}
	return h, nil
}

// handle is an open control file with the text that it had when it was opened. It implements vfs.Handle.
type handle struct {
	text  []byte
	write func([]byte) error
}

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(h.text)) {
		return 0, io.EOF
	}
	return copy(p, h.text[off:]), nil
}

// WriteAt implements vfs.Handle; a control file ignores the offset.
func (h *handle) WriteAt(p []byte, _ int64) (int, error) {
	if h.write == nil {
		return 0, syscall.EBADF
	}
	if err := h.write(bytes.TrimSuffix(p, []byte("\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Size is the length of the text in bytes.
func (h *handle) Size() int64 { return int64(len(h.text)) }

func (h *handle) Close() error {
	held.Add(-int64(len(h.text)))
	return nil
}

// Dir is a directory whose entries are made on demand. Node returns nil for a name that does not
// exist.
type Dir struct {
	List func() []string
	Node func(name string) vfs.Node
	Perm fs.FileMode // 0: 0555
}

// Fixed is a directory whose entries are always there.
func Fixed(nodes map[string]vfs.Node) Dir {
	return Dir{List: func() []string { return slices.Sorted(maps.Keys(nodes)) }, Node: func(name string) vfs.Node { return nodes[name] }}
}

// Stat implements vfs.Node.
func (d Dir) Stat() vfs.Info { return vfs.Info{Mode: fs.ModeDir | cmp.Or(d.Perm, 0555)} }

// Names implements vfs.Directory.
func (d Dir) Names() []string { return d.List() }

// Lookup implements vfs.Directory.
//
// Errors: ENOENT.
func (d Dir) Lookup(name string) (vfs.Node, error) {
	if n := d.Node(name); n != nil {
		return n, nil
	}
	return nil, syscall.ENOENT
}
