// Package types knows the types of the running kernel: what each function takes and returns, in
// which registers, and what fields there are. The build packs them (package gotypes); they are unpacked at
// the first request.
package types

import (
	"sync"
	"syscall"
	"unsafe"

	"sonde/gotypes"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
)

// image is where the build leaves address and size of the table. Not zero, so that it is in the file.
var image = [2]uint64{1, 0}

// errNone says that the build has left no table.
var errNone = refusal.New(syscall.ENOENT, "the image has no table of types")

// Kernel returns the types of the running kernel.
//
// Errors: those of Load.
var Kernel = sync.OnceValues(Load)

// Load unpacks the types of the running kernel. That takes 80 million instructions: use Kernel.
//
// Errors: ENOENT the image has no table; kallsyms.ErrNoTable, and those of gotypes.Load.
func Load() (*gotypes.Table, error) {
	if image[1] == 0 {
		return nil, errNone
	}
	known, err := described()
	if err != nil {
		return nil, err
	}
	return gotypes.Load([]byte(memory(image[0], image[1])), gotypes.Entries(kallsyms.Kernel()), known)
}

// described returns the runtime's descriptions of types.
var described = sync.OnceValues(func() (none gotypes.Memory, err error) {
	syms := kallsyms.Kernel()
	if syms == nil {
		return none, kallsyms.ErrNoTable
	}
	begin, err := syms.Addr("runtime.types")
	if err != nil {
		return none, err
	}
	end, err := syms.Addr("runtime.etypes")
	if err != nil {
		return none, err
	}
	return gotypes.Memory{Base: begin.Addr, Data: memory(begin.Addr, end.Addr-begin.Addr)}, nil
})

// Held returns the name of the type of what an interface of the kernel holds, by the interface's first
// word: see gotypes.Memory.Held. "": it is not known.
func Held(first uint64) string {
	known, _ := described()
	return known.Held(first)
}

// Function returns what the function at an address takes and gives.
//
// Errors: those of Kernel; ENOENT nothing is known of it: it is no function, or of assembly.
func Function(addr uint64) (*gotypes.Table, gotypes.Call, error) {
	t, err := Kernel()
	if err != nil {
		return nil, gotypes.Call{}, err
	}
	c, ok := t.Func(addr)
	if !ok {
		return nil, gotypes.Call{}, refusal.New(syscall.ENOENT, "no types are known of what is at %#x", addr)
	}
	return t, c, nil
}

// memory is n bytes at begin.
// Safe because: the build says that they are read-only data of this image.
func memory(begin, n uint64) string { return unsafe.String(*(**byte)(unsafe.Pointer(&begin)), n) }
