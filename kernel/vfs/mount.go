package vfs

import "strings"

// Mount is a mounted file system as programs see it. There is only one tree; the table says which
// parts of it appear as the file systems that Linux has for them.
type Mount struct {
	Source, Dir, Type string
	Magic             int64 // of the type, for statfs
}

// mounts is sorted: a part of another mount comes after it.
//
// Source: Linux, uapi/linux/magic.h.
var mounts = []Mount{
	{"tmpfs", "/", "tmpfs", 0x01021994},
	{"proc", "/proc", "proc", 0x9fa0},
	{"sysfs", "/sys", "sysfs", 0x62656572},
	{"bpf", "/sys/fs/bpf", "bpf", 0xcafe4a11},
	{"debugfs", "/sys/kernel/debug", "debugfs", 0x64626720},
	{"tracefs", "/sys/kernel/debug/tracing", "tracefs", 0x74726163},
	{"tracefs", "/sys/kernel/tracing", "tracefs", 0x74726163},
	{"devpts", "/dev/pts", "devpts", 0x1cd1},
}

// Mounts returns all mounts, the root first.
func Mounts() []Mount { return mounts }

// Index returns the index of m in Mounts, and that of the mount that contains its directory; the
// root contains itself.
func (m Mount) Index() (own, above int) {
	for i, o := range mounts {
		switch {
		case o.Dir == m.Dir:
			own = i
		case below(m.Dir, o.Dir):
			above = i
		}
	}
	return own, above
}

// Device returns the device number that stat shows for files in m.
func (m Mount) Device() uint64 {
	own, _ := m.Index()
	return Device + uint64(own)
}

// deviceOf is the device number for a directory that the kernel makes.
func deviceOf(path string) uint64 {
	in := mounts[0]
	for _, m := range mounts {
		if below(path, m.Dir) {
			in = m
		}
	}
	return in.Device()
}

// Mount returns the mount that contains the place.
func (p *Place) Mount() Mount { return mounts[p.device()-Device] }

// HasRoom reports whether files in m use space: only the root holds files of programs.
func (m Mount) HasRoom() bool { return m.Dir == "/" }

func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
