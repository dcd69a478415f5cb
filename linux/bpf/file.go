package sysbpf

import (
	"fmt"
	"io"
	"sync"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/program"
)

// anonymous is the mode of a file without a name.
const anonymous = 0600

// file is a descriptor of an object, which it holds. It implements vfs.Handle.
type file struct {
	vfs.Anonymous
	vfs.NoBytes
	object program.Object
}

func (f *file) Close() error {
	program.Release(f.object)
	return nil
}

// mapFile is a descriptor of a map.
type mapFile struct {
	file
	m *program.Map

	mu    sync.Mutex
	perfs map[uint32]*vfs.File // guarded by mu: the perf events that were put into the map by this descriptor
}

// ringFile is a descriptor of a ring buffer, for which one can wait. It implements poll.Source.
type ringFile struct{ *mapFile }

func (f *ringFile) Poll() poll.Events  { return f.m.Shared().Poll() }
func (f *ringFile) Queue() *poll.Queue { return f.m.Shared().Queue() }

type progFile struct {
	file
	p *program.Prog
}

// installMap gives a map that the caller holds a descriptor, which takes over the hold. flag is O_RDWR,
// O_RDONLY or O_WRONLY.
func (c *call) installMap(m *program.Map, flag int) (uint64, error) {
	base := &mapFile{file: file{Anonymous: vfs.NewAnonymous(anonymous), object: m}, m: m}
	var h vfs.Handle = base
	if m.Shared() != nil {
		h = &ringFile{base}
	}
	return c.Install(vfs.NewFile("anon_inode:bpf-map", base.Anonymous, h, flag))
}

// installProg is installMap for programs.
func (c *call) installProg(p *program.Prog) (uint64, error) {
	h := &progFile{file{Anonymous: vfs.NewAnonymous(anonymous), object: p}, p}
	return c.Install(vfs.NewFile("anon_inode:bpf-prog", h, h, abi.O_RDWR))
}

// mapOf returns the map of a file, nil if it is none.
func mapOf(f *vfs.File) *mapFile {
	switch h := f.Handle().(type) {
	case *mapFile:
		return h
	case *ringFile:
		return h.mapFile
	}
	return nil
}

// ProgramOf returns the program of a descriptor's file, as PERF_EVENT_IOC_SET_BPF is given it. It stays as long
// as the file: a caller that keeps it holds it (program.Hold).
//
// Errors: EINVAL the file is another one.
func ProgramOf(f *vfs.File) (*program.Prog, error) {
	if h, ok := f.Handle().(*progFile); ok {
		return h.p, nil
	}
	return nil, refusal.New(syscall.EINVAL, "%s is no program", f.Name())
}

// onProgram makes a command of a function that does it to a program: the one of the descriptor at off.
func onProgram(off int, run func(c *call, p *program.Prog) (uint64, error)) func(c *call) (uint64, error) {
	return func(c *call) (uint64, error) {
		f, err := c.Hold(c.fd(off))
		if err != nil {
			return 0, err
		}
		defer vfs.Close(f)
		p, err := ProgramOf(f)
		if err != nil {
			return 0, err
		}
		return run(c, p)
	}
}

// onMap makes a command of a function that does it to a map, for which holdMap wants what is said.
func onMap(want int, run func(c *call, h *mapFile) error) func(c *call) (uint64, error) {
	return func(c *call) (uint64, error) {
		f, h, err := c.holdMap(c.fd(0), want)
		if err != nil {
			return 0, err
		}
		defer f.release()
		return 0, run(c, h)
	}
}

// usedMap is the file of a map that a call uses. Until its release, nothing freezes a map that the call writes to.
type usedMap struct {
	file    *vfs.File
	written *mapState // nil: it is only read
}

func (h usedMap) release() {
	if h.written != nil {
		h.written.endWrite()
	}
	vfs.Close(h.file)
}

// holdMap returns the map of a descriptor, and its file, which the caller releases. want is what the
// process must have asked for when it made the descriptor.
//
// Errors: EBADF, EINVAL the file is another one; EPERM the map is frozen, or was opened for the other.
func (c *call) holdMap(fd int, want int) (usedMap, *mapFile, error) {
	f, err := c.Hold(fd)
	if err != nil {
		return usedMap{}, nil, err
	}
	use := usedMap{file: f}
	h, made := mapOf(f), f.Flags()&abi.O_ACCMODE
	switch {
	case h == nil:
		err = refusal.New(syscall.EINVAL, "descriptor %d is not a map", fd)
	case want&forRead != 0 && made == abi.O_WRONLY, want&forWrite != 0 && made == abi.O_RDONLY:
		err = refusal.New(syscall.EPERM, "descriptor %d was not made for this", fd)
	case want&forWrite != 0:
		use.written, err = stateOf(h.m).beginWrite(h.m)
	}
	if err != nil {
		use.release()
		return usedMap{}, nil, err
	}
	return use, h, nil
}

// What a map is wanted for.
const (
	forAny   = 0
	forRead  = 1 << 0
	forWrite = 1 << 1
	forBoth  = forRead | forWrite
)

// Close implements vfs.Handle: the perf events that came by this descriptor leave the map with it.
func (f *mapFile) Close() error {
	f.dropPerfs()
	return f.file.Close()
}

func (f *mapFile) dropPerfs() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for at, event := range f.perfs {
		if f.m.Perf(at) == ringOf(event) {
			f.m.SetPerf(at, nil)
		}
		vfs.Close(event)
	}
	f.perfs = nil
}

// Describe implements vfs.Describer, as Linux has it in /proc/PID/fdinfo.
func (f *mapFile) Describe(w io.Writer) {
	s, state := &f.m.Spec, stateOf(f.m)
	frozen := 0
	if state.frozen.Load() {
		frozen = 1
	}
	fmt.Fprintf(w, "map_type:\t%d\nkey_size:\t%d\nvalue_size:\t%d\nmax_entries:\t%d\nmap_flags:\t%#x\nmap_extra:\t0x0\nmemlock:\t%d\nmap_id:\t%d\nfrozen:\t%d\n",
		s.Type, s.KeySize, s.ValueSize, s.MaxEntries, state.flags, f.m.Bytes(), f.m.ID, frozen)
	if kind, ok := f.m.Family(); ok {
		fmt.Fprintf(w, "owner_prog_type:\t%d\nowner_jited:\t1\n", kind)
	}
}

// Describe implements vfs.Describer.
func (f *progFile) Describe(w io.Writer) {
	_, code := f.p.Code()
	fmt.Fprintf(w, "prog_type:\t%d\nprog_jited:\t1\nprog_tag:\t%s\nmemlock:\t%d\nprog_id:\t%d\nrun_time_ns:\t%d\nrun_cnt:\t%d\nrecursion_misses:\t%d\nverified_insns:\t%d\n",
		f.p.Type(), f.p.Tag(), roundUp(len(code)), f.p.ID, spent(f.p), f.p.Account().Run, f.p.Recursion(), f.p.Checked.Steps)
}

func roundUp(n int) int { return (n + pageSize - 1) &^ (pageSize - 1) }
