package types

import (
	"sync"

	"sonde/gotypes/vmlinux"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// btf is the kernel's BTF. It is written when somebody first opens the file, and kept.
var btf = sync.OnceValues(func() ([]byte, error) {
	t, err := Kernel()
	if err != nil {
		return nil, err
	}
	return vmlinux.Encode(t)
})

// Mount makes the file in which tools look for the kernel's BTF.
func Mount(tree *vfs.FS) error { return tree.Bind("/sys/kernel/btf/vmlinux", ctl.File{Read: btf}) }
