//go:build !nolinux

package kwatch

import (
	"fmt"
	"syscall"

	"sonde/kernel/mm/backing"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	image "sonde/linux/program"
	"sonde/probe/attach"
)

// A Variable is what a place in a program's file names: a variable, or a function if its execution is watched.
type Variable struct {
	site       attach.Site
	opened     *vfs.File
	file       *image.File
	ident      backing.Ident
	addr, size uint64 // in the file
}

// FindVariable finds what a place in a program's file names. Close must follow.
//
// Errors: those of opening the file; ENODEV it is no regular file; ENOEXEC it is no program; those of
// program.File's Variable, and of FindOne and Boundary for a function.
func FindVariable(s attach.Site) (*Variable, error) {
	opened, err := vfs.Open(s.File, vfs.O_RDONLY)
	if err != nil {
		return nil, err
	}
	v := &Variable{site: s, opened: opened}
	if err := v.find(); err != nil {
		v.Close()
		return nil, fmt.Errorf("%s: %w", s.File, err)
	}
	return v, nil
}

func (v *Variable) find() (err error) {
	if v.file, err = image.Open(v.opened); err != nil {
		return refusal.New(syscall.ENOEXEC, "not a program: %v", err)
	}
	b, err := v.opened.Backing()
	if err != nil {
		return err
	}
	v.ident = b.Ident()
	var found image.Symbol
	if v.site.Access != attach.Execute {
		found, err = v.file.Variable(v.site.Symbol)
	} else if spot, e := v.file.FindOne(v.site.Symbol, v.site.Offset); e != nil {
		err = e
	} else {
		found, err = spot.Fn, v.file.Boundary(spot.Addr)
	}
	v.addr, v.size = found.Addr+v.site.Offset, found.Size-min(v.site.Offset, found.Size)
	return err
}

// Close gives back the file.
func (v *Variable) Close() { vfs.Close(v.opened) }

// length returns how many bytes are watched at an address: if nothing is said, as many as fit.
func (v *Variable) length(addr uintptr) int {
	if v.site.Length != 0 {
		return v.site.Length
	}
	return Fitting(addr, uintptr(v.size), v.site.Access)
}

// In returns where the variable is in the memory of a process, and how many bytes of it are watched.
//
// Errors: ESRCH the process has not mapped the file's code.
func (v *Variable) In(p *proc.Process) (addr uintptr, length int, err error) {
	if mem := p.Memory(); mem != nil {
		for _, a := range mem.Areas() {
			if a.Ident.Dev != v.ident.Dev || a.Ident.Inode != v.ident.Inode {
				continue
			}
			if bias, ok := v.file.Bias(a.Start, a.Offset); ok {
				addr = uintptr(v.addr + bias)
				return addr, v.length(addr), nil
			}
		}
	}
	return 0, 0, refusal.New(syscall.ESRCH, "process %d does not run %s", p.PID, v.site.File)
}

// In returns where what a place in a program's file names is in the memory of a process, and how many bytes of
// it are watched.
//
// Errors: those of FindVariable and of Variable.In.
func In(p *proc.Process, s attach.Site) (addr uintptr, length int, err error) {
	v, err := FindVariable(s)
	if err != nil {
		return 0, 0, err
	}
	defer v.Close()
	return v.In(p)
}
