package procfs

import (
	"slices"
	"strings"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/sysctl"
)

// sysDir is the directory of the kernel parameters whose names begin with prefix, which
// is empty or ends in a dot. It is made on demand, so that kernel parameters registered
// later are there too.
func sysDir(prefix string) ctl.Dir {
	return ctl.Dir{
		List: func() []string {
			var names []string
			for _, k := range sysctl.All() {
				if rest, ok := strings.CutPrefix(k.Name(), prefix); ok {
					name, _, _ := strings.Cut(rest, ".")
					names = append(names, name)
				}
			}
			return slices.Compact(names) // All is sorted
		},
		Node: func(name string) vfs.Node { return sysNode(prefix + name) },
	}
}

// sysNode is the file of a kernel parameter, or the directory of those below the name.
func sysNode(name string) vfs.Node {
	for _, k := range sysctl.All() {
		if k.Name() == name {
			return parameterFile(k)
		}
		if strings.HasPrefix(k.Name(), name+".") {
			return sysDir(name + ".")
		}
	}
	return nil
}

func parameterFile(k sysctl.Parameter) ctl.File {
	f := ctl.Text(func() string { return k.String() + "\n" })
	if _, fact := k.(*sysctl.Fact); !fact {
		f.Write = func(p []byte) error { return k.Set(string(p)) }
	}
	return f
}
