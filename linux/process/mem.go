package process

import (
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// memory is /proc/PID/mem: a byte's offset is its address. Debuggers use it, and libraries that look at their own
// vDSO. Missing: Linux lets a debugger write to pages that the process itself must not write to.
//
// Source: Linux, proc_pid_mem(5). It implements vfs.Node.
type memory struct{ p *proc.Process }

func (memory) Stat() vfs.Info { return vfs.Info{Mode: 0600} }

// Open implements vfs.Opener: the memory is what the process has now, also after it has executed another program.
//
// Errors: EACCES the process has ended.
func (m memory) Open(int) (vfs.Handle, error) {
	if of := m.p.Memory(); of != nil {
		return openMemory{of}, nil
	}
	return nil, syscall.EACCES
}

type openMemory struct{ m *proc.Memory }

// ReadAt implements vfs.Handle.
//
// Errors: EIO nothing is mapped there.
func (o openMemory) ReadAt(b []byte, off int64) (int, error) {
	n, err := o.m.CopyIn(b, uint64(off))
	if n == 0 && err != nil {
		return 0, refusal.New(syscall.EIO, "nothing is mapped at %#x", off)
	}
	return n, nil
}

// WriteAt implements vfs.Handle.
//
// Errors: EIO the process cannot write there.
func (o openMemory) WriteAt(b []byte, off int64) (int, error) {
	n, err := o.m.CopyOut(uint64(off), b)
	if n == 0 && err != nil {
		return 0, refusal.New(syscall.EIO, "the process cannot write at %#x", off)
	}
	return n, nil
}

// Close implements vfs.Handle.
func (openMemory) Close() error { return nil }
