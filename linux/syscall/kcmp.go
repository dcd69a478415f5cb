package syscall

import (
	"cmp"
	sys "syscall"
	"unsafe"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// Types of resources that kcmp compares.
//
// Source: Linux, uapi/linux/kcmp.h.
const (
	kcmpFile = iota
	kcmpVM
	kcmpFiles
	kcmpFS
	kcmpSighand
	kcmpIO
	kcmpSysVSem
)

// kcmp reports whether two processes share a resource: 0 if they do, otherwise 1 or 2, the order of
// their resources. There are no I/O contexts and no semaphore undo lists, so these are always
// equal.
//
// Source: Linux, kcmp(2).
func kcmp(t *proc.Thread, a *Args) (uint64, error) {
	var who [2]*proc.Process
	for i := range who {
		p, err := t.Process().Table().Find(asInt(a[i]))
		if err != nil {
			return 0, err
		}
		who[i] = p
	}
	var what [2]uintptr
	for i, p := range who {
		v, err := sharedPart(p, asInt(a[2]), a[3+i])
		if err != nil {
			return 0, err
		}
		what[i] = v
	}
	return [...]uint64{1, 0, 2}[cmp.Compare(what[0], what[1])+1], nil
}

// sharedPart is the address of p's resource, 0 if it has none. Go does not move heap objects.
//
// Errors: EINVAL, EBADF, ESRCH for a process that has ended.
func sharedPart(p *proc.Process, kind int, fd uint64) (uintptr, error) {
	switch kind {
	case kcmpVM:
		return uintptr(unsafe.Pointer(p.Memory())), nil
	case kcmpSighand:
		return p.ActionsID(), nil
	case kcmpIO, kcmpSysVSem:
		return 0, nil
	case kcmpFile, kcmpFiles, kcmpFS:
	default:
		return 0, sys.EINVAL
	}
	files, ok := p.Resources().(*Files)
	switch {
	case !ok:
		return 0, sys.ESRCH // the kernel
	case kind == kcmpFiles:
		return uintptr(unsafe.Pointer(files.Descriptors())), nil
	case kind == kcmpFS:
		return uintptr(unsafe.Pointer(files.dir)), nil
	}
	f, err := files.Descriptors().Get(asInt(fd))
	return uintptr(unsafe.Pointer(f)), err
}

// pidfdGetfd gives the caller a descriptor of another process's open file.
//
// Source: Linux, pidfd_getfd(2).
func pidfdGetfd(t *proc.Thread, a *Args) (uint64, error) {
	if a[2]&0xffffffff != 0 {
		return 0, sys.EINVAL
	}
	_, p, err := processOf(t, a[0])
	if err != nil {
		return 0, err
	}
	select {
	case <-p.Done():
		return 0, sys.ESRCH
	default:
	}
	f, err := heldFile(p, asInt(a[1]))
	if err != nil {
		return 0, err
	}
	return install(t, f, true)
}

// heldFile returns an open file of p, held for the caller.
func heldFile(p *proc.Process, fd int) (*vfs.File, error) {
	files, ok := p.Resources().(*Files)
	if !ok {
		return nil, sys.ESRCH
	}
	return files.Descriptors().Hold(fd)
}

// getRobustList returns the address of a thread's list of robust futexes.
func getRobustList(t *proc.Thread, of *proc.Thread, a *Args) (uint64, error) {
	if err := put(t, a[2], uint64(len(abi.Bytes(new(abi.RobustListHead))))); err != nil {
		return 0, err
	}
	return done(put(t, a[1], of.RobustList()))
}
