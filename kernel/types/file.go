package types

import (
	"sync"

	"sonde/gotypes/vmlinux"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// BTF returns the kernel's types as BTF. They are written when somebody first asks, and kept.
//
// Errors: those of Kernel and vmlinux.Encode.
var BTF = sync.OnceValues(func() ([]byte, error) {
	t, err := Kernel()
	if err != nil {
		return nil, err
	}
	return vmlinux.Encode(t)
})

// Mount makes the file in which tools look for the kernel's BTF.
func Mount(tree *vfs.FS) error { return tree.Bind("/sys/kernel/btf/vmlinux", ctl.File{Read: BTF}) }
