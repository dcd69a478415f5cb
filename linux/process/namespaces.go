package process

import (
	"fmt"
	"maps"
	"slices"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// namespaceIDs are the inode numbers of the namespaces. There is one of each kind: the first, with Linux's number
// where that is a fixed one (cgroup to uts).
var namespaceIDs = map[string]uint64{
	"cgroup": 0xeffffffb, "ipc": 0xefffffff, "pid": 0xeffffffc, "user": 0xeffffffd, "uts": 0xeffffffe,
	"mnt": 0xf0000000, "net": 0xf0000098,
}

// namespace is what a link of /proc/PID/ns leads to. Programs compare its number. It implements vfs.Node.
type namespace uint64

func (n namespace) Stat() vfs.Info { return vfs.Info{Mode: 0o444, Ino: uint64(n), Links: 1} }

// namespaces is the folder /proc/PID/ns. Source: namespaces(7).
func namespaces(tree *vfs.FS) vfs.Node {
	return ctl.Dir{
		List: func() []string { return slices.Collect(maps.Keys(namespaceIDs)) },
		Node: func(kind string) vfs.Node {
			id, ok := namespaceIDs[kind]
			if !ok {
				return nil
			}
			name := fmt.Sprintf("%s:[%d]", kind, id)
			l := jump{}
			l.target = func() (string, error) { return name, nil }
			l.to = func() (vfs.Place, error) { return tree.Nameless(namespace(id), name), nil }
			return l
		},
	}
}
