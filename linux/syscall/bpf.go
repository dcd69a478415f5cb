package syscall

import (
	"path"

	"sonde/kernel/vfs"
	sysbpf "sonde/linux/bpf"
	"sonde/linux/proc"
)

func bpfCall(t *proc.Thread, a *Args) (uint64, error) {
	return sysbpf.Call(bpfCaller{t}, asInt(a[0]), a[1], asInt(a[2]))
}

// bpfCaller is the process that calls bpf(2).
type bpfCaller struct{ t *proc.Thread }

func (c bpfCaller) In(b []byte, addr uint64) error  { return c.t.Memory().In(b, addr) }
func (c bpfCaller) Out(addr uint64, b []byte) error { return c.t.Memory().Out(addr, b) }
func (c bpfCaller) Name() string                    { return c.t.Process().Name() }

// Path implements sysbpf.Process: the directory must exist.
func (c bpfCaller) Path(addr uint64) (string, error) {
	dir, name, err := where(c.t, cwd, addr)
	if err != nil {
		return "", err
	}
	if at, err := vfs.Root.PlaceAt(dir, name, true, false); err == nil {
		return at.Path()
	}
	up, err := vfs.Root.PlaceAt(dir, path.Dir(name), true, true)
	if err != nil {
		return "", err
	}
	in, err := up.Path()
	return path.Join(in, path.Base(name)), err
}

func (c bpfCaller) Hold(fd int) (*vfs.File, error) { return filesOf(c.t).Descriptors().Hold(fd) }

func (c bpfCaller) Install(f *vfs.File) (uint64, error) { return install(c.t, f, true) }
