package syscall

import (
	"path"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	sysbpf "sonde/linux/bpf"
	"sonde/linux/proc"
)

func bpfCall(t *proc.Thread, a *Args) (uint64, error) {
	if err := mayUse(t, capBPF); err != nil {
		return 0, err
	}
	return sysbpf.Call(bpfCaller{t}, asInt(a[0]), a[1], asInt(a[2]))
}

// bpfCaller is the process that calls bpf(2).
type bpfCaller struct{ t *proc.Thread }

func (c bpfCaller) In(b []byte, addr uint64) error  { return c.t.Memory().In(b, addr) }
func (c bpfCaller) Out(addr uint64, b []byte) error { return c.t.Memory().Out(addr, b) }
func (c bpfCaller) Name() string                    { return c.t.Process().Name() }
func (c bpfCaller) Wanted() bool                    { return c.t.Wanted() }

// Charge implements sysbpf.Process: the maps that a process makes count against RLIMIT_MEMLOCK.
func (c bpfCaller) Charge(n int) (func(), error) {
	limit, err := c.t.Process().Limit(abi.RLIMIT_MEMLOCK)
	if err != nil {
		return nil, err
	}
	used := &filesOf(c.t).maps
	if now := used.Add(int64(n)); uint64(now) > limit.Cur {
		used.Add(int64(-n))
		return nil, refusal.New(sys.EPERM, "%d bytes for a map: with the others of the process that is more than RLIMIT_MEMLOCK, %d", n, limit.Cur)
	}
	return func() { used.Add(int64(-n)) }, nil
}

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
