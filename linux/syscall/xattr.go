package syscall

import (
	"strings"
	sys "syscall"

	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// Flags of setxattr, and limits.
//
// Source: Linux, uapi/linux/xattr.h, limits.h.
const (
	xattrCreate, xattrReplace = 1, 2
	xattrNameMax              = 255
	xattrSizeMax              = 64 << 10
)

func followed(t *proc.Thread, addr uint64) (vfs.Node, error)   { return nodeAt(t, addr, true) }
func unfollowed(t *proc.Thread, addr uint64) (vfs.Node, error) { return nodeAt(t, addr, false) }

func nodeAt(t *proc.Thread, addr uint64, follow bool) (vfs.Node, error) {
	dir, path, err := where(t, cwd, addr)
	if err != nil {
		return nil, err
	}
	p, err := vfs.Root.PlaceAt(dir, path, follow, false)
	if err != nil {
		return nil, err
	}
	return p.Node(), nil
}

func opened(t *proc.Thread, fd uint64) (vfs.Node, error) {
	f, err := fileOf(t, fd)
	if err != nil {
		return nil, err
	}
	return f.Node(), nil
}

// xattrAt copies the name of an attribute, and checks whether n can have it: user attributes are
// for regular files and directories, the others for administrators.
//
// Errors: EFAULT, ERANGE, EINVAL; EOPNOTSUPP for other names, and for every name if the kernel
// makes the node; refused for user attributes of other kinds of files.
func xattrAt(t *proc.Thread, addr uint64, n vfs.Node, refused sys.Errno) (string, error) {
	name, err := t.Memory().CString(addr, xattrNameMax+1)
	if errnoIs(err, sys.ENAMETOOLONG) || err == nil && name == "" {
		return "", sys.ERANGE
	}
	if err != nil {
		return "", err
	}
	space, rest, _ := strings.Cut(name, ".")
	mode := n.Stat().Mode
	_, can := n.(vfs.Attributed)
	switch {
	case !can, space != "user" && space != "trusted" && space != "security":
		return "", sys.EOPNOTSUPP
	case rest == "":
		return "", sys.EINVAL
	case space == "user" && !mode.IsRegular() && !mode.IsDir():
		return "", refused
	}
	return name, nil
}

// setxattr sets an extended attribute.
//
// Source: Linux, setxattr(2).
func setxattr(t *proc.Thread, n vfs.Node, a *Args) (uint64, error) {
	flags := a[4] & 0xffffffff
	if flags&^(xattrCreate|xattrReplace) != 0 {
		return 0, sys.EINVAL
	}
	name, err := xattrAt(t, a[1], n, sys.EPERM)
	switch {
	case err != nil:
		return 0, err
	case a[3] > xattrSizeMax:
		return 0, sys.E2BIG
	}
	value := make([]byte, a[3])
	if err := t.Memory().In(value, a[2]); err != nil {
		return 0, err
	}
	return done(vfs.ChangeXattrs(n, func(of vfs.Attributed) error {
		return of.SetXattr(name, value, flags&xattrCreate != 0, flags&xattrReplace != 0)
	}))
}

// getxattr reads an attribute, or returns its length.
func getxattr(t *proc.Thread, n vfs.Node, a *Args) (uint64, error) {
	name, err := xattrAt(t, a[1], n, sys.ENODATA)
	if err != nil {
		return 0, err
	}
	value, err := n.(vfs.Attributed).Xattr(name)
	if err != nil {
		return 0, err
	}
	return fitting(t, a[2], a[3], value)
}

// listxattr reads the names, each followed by a zero byte.
func listxattr(t *proc.Thread, n vfs.Node, a *Args) (uint64, error) {
	of, can := n.(vfs.Attributed)
	if !can {
		return 0, nil
	}
	var all []byte
	for _, name := range of.Xattrs() {
		all = append(append(all, name...), 0)
	}
	return fitting(t, a[1], a[2], all)
}

// fitting stores b if the program's buffer is long enough.
//
// Errors: ERANGE, EFAULT.
func fitting(t *proc.Thread, addr, room uint64, b []byte) (uint64, error) {
	n := uint64(len(b))
	switch {
	case room == 0:
		return n, nil
	case room < n:
		return 0, sys.ERANGE
	}
	return n, t.Memory().Out(addr, b)
}

// removexattr removes one.
func removexattr(t *proc.Thread, n vfs.Node, a *Args) (uint64, error) {
	name, err := xattrAt(t, a[1], n, sys.EPERM)
	if err != nil {
		return 0, err
	}
	return done(vfs.ChangeXattrs(n, func(of vfs.Attributed) error { return of.RemoveXattr(name) }))
}
