package syscall

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	sys "syscall"

	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// Args are the arguments of a call as they were in registers.
type Args = [6]uint64

// call executes a system call.
type call = func(t *proc.Thread, a *Args) (uint64, error)

// Call is a line of the table.
type Call struct {
	Name    string
	Params  string // their names, shown to people
	Missing string // what Linux has and this call does not; "" if nothing is missing
	Func    call
	Restart proc.Restart // what happens after EINTR
}

// Handle executes the system call in t's registers.
//
// Context: t's goroutine.
func Handle(t *proc.Thread) {
	r := t.Regs()
	n := r.AX
	if n >= uint64(len(table)) || table[n].Func == nil {
		r.AX = negative(unknown(t, n))
		return
	}
	c := &table[n]
	a := &t.Args
	a[0], a[1], a[2], a[3], a[4], a[5] = r.DI, r.SI, r.DX, r.R10, r.R8, r.R9
	v, err := c.Func(t, a)
	vfs.TellOwners()
	if err != nil {
		errno := errnoOf(err)
		if errno == sys.EINTR && c.Restart != proc.NoRestart {
			t.Interrupted(c.Restart)
		}
		v = negative(errno)
	}
	r.AX = v
}

func negative(e sys.Errno) uint64 { return -uint64(e) }

// errnoOf is the errno of an error of the kernel. An error without one is EIO.
func errnoOf(err error) sys.Errno {
	if e, ok := err.(sys.Errno); ok {
		return e
	}
	var e sys.Errno
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrClosed):
		return sys.EBADF
	case errors.Is(err, fs.ErrNotExist):
		return sys.ENOENT
	case errors.Is(err, io.EOF):
		return 0
	}
	return sys.EIO
}

// Lookup returns the call with that number.
func Lookup(n uint64) (c Call, ok bool) {
	if n < uint64(len(table)) && table[n].Func != nil {
		return table[n], true
	}
	return Call{}, false
}

// Known reports whether Linux has a call of that name.
func Known(name string) bool {
	is := func(c Call) bool { return c.Name == name }
	return name != "" && (slices.ContainsFunc(table[:], is) || slices.Contains(absent[:], name))
}

// Name returns Linux's name of a call, also of one that is not there; "" if there is no such number.
func Name(n uint64) string {
	switch {
	case n < uint64(len(table)) && table[n].Name != "":
		return table[n].Name
	case n < Numbers:
		return absent[n]
	}
	return ""
}

// Parameters returns the names of a call's parameters; false: there is no such call.
func Parameters(name string) ([]string, bool) {
	for _, c := range table {
		if c.Func != nil && c.Name == name {
			return c.Names(), true
		}
	}
	return nil, false
}

// Names are those of the parameters.
func (c *Call) Names() []string {
	if c.Params == "" {
		return nil
	}
	return strings.Split(c.Params, ", ")
}

// Numbers are those of all names, which are less than this.
const Numbers = uint64(len(absent))
