package types

import (
	"sync"
	"sync/atomic"

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
	data, err := vmlinux.Encode(t)
	size.Store(int64(len(data)))
	return data, err
})

// size is that of BTF, in bytes; 0 until it has been written.
var size atomic.Int64

// Mount makes the file in which tools look for the kernel's BTF. It has a size once it has been opened.
func Mount(tree *vfs.FS) error {
	return tree.Bind("/sys/kernel/btf/vmlinux", ctl.File{Read: BTF, Size: size.Load})
}
