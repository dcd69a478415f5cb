package vfs

import "strings"

// Mount is what programs take for a mounted file system. There is but one tree; the
// table says which parts of it hold what Linux has file systems for.
type Mount struct {
	Source, Dir, Type string
	Magic             int64 // of the type, for statfs
}

// mounts are by Dir; a part of another one comes behind it.
//
// Source: Linux, uapi/linux/magic.h.
var mounts = []Mount{
	{"tmpfs", "/", "tmpfs", 0x01021994},
	{"proc", "/proc", "proc", 0x9fa0},
	{"sysfs", "/sys", "sysfs", 0x62656572},
	{"debugfs", "/sys/kernel/debug", "debugfs", 0x64626720},
	{"devpts", "/dev/pts", "devpts", 0x1cd1},
}

// Mounts returns all that is mounted, the root first.
func Mounts() []Mount { return mounts }

// Index returns where m is in Mounts, and where that is in which its directory lies; the
// root lies in itself.
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

// Device returns what stat shows for what is in m.
func (m Mount) Device() uint64 {
	own, _ := m.Index()
	return Device + uint64(own)
}

// deviceOf is the device of a directory that the kernel makes.
func deviceOf(path string) uint64 {
	in := mounts[0]
	for _, m := range mounts {
		if below(path, m.Dir) {
			in = m
		}
	}
	return in.Device()
}

// Mount returns what the place is in.
func (p *Place) Mount() Mount { return mounts[p.device()-Device] }

// HasRoom reports whether files in m take up room: only the root holds those of programs.
func (m Mount) HasRoom() bool { return m.Dir == "/" }

func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
