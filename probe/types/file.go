package types

import (
	"cmp"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/bpf/btf"
	"sonde/gotypes/vmlinux"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// written is the kernel's types as BTF.
type written struct {
	data  []byte
	funcs []vmlinux.Func // by their ids
}

// write writes them when somebody first asks. They are kept. What that takes of memory grows only: no garbage is
// collected meanwhile, unless memory runs out (mm.LimitHeap).
var write = sync.OnceValues(func() (w written, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	t, err := Kernel()
	if err != nil {
		return w, err
	}
	w.data, w.funcs, err = vmlinux.Encode(t, kallsyms.Kernel().Aliases())
	size.Store(int64(len(w.data)))
	return w, err
})

// BTF returns the kernel's types as BTF. They are written when somebody first asks, and kept.
//
// Errors: those of Kernel and vmlinux.Encode.
func BTF() ([]byte, error) {
	w, err := write()
	return w.data, err
}

// Numbered returns the function that has a number in BTF.
//
// Errors: those of BTF; ENOENT there is none.
func Numbered(id btf.ID) (vmlinux.Func, error) {
	w, err := write()
	if err != nil {
		return vmlinux.Func{}, err
	}
	i, ok := slices.BinarySearchFunc(w.funcs, id, func(f vmlinux.Func, id btf.ID) int { return cmp.Compare(f.ID, id) })
	if !ok {
		return vmlinux.Func{}, refusal.New(syscall.ENOENT, "type %d of BTF is not a function", id)
	}
	return w.funcs[i], nil
}

// size is that of BTF, in bytes; 0 until it has been written.
var size atomic.Int64

// Mount makes the file in which tools look for the kernel's BTF. It has a size once it has been opened.
func Mount(tree *vfs.FS) error {
	return tree.Bind("/sys/kernel/btf/vmlinux", ctl.File{Read: BTF, Size: size.Load})
}
