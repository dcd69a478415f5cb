package syscall

import (
	"fmt"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	sysbpf "sonde/linux/bpf"
	"sonde/linux/perf"
	"sonde/linux/proc"
)

const nPerfEventOpen = 298

// Flags of perf_event_open.
//
// Source: Linux, uapi/linux/perf_event.h.
const (
	perfNoGroup = 1 << iota
	perfOutput
	perfCgroup
	perfCloexec
)

func perfEventOpen(t *proc.Thread, a *Args) (uint64, error) {
	if a[4]&^(perfNoGroup|perfOutput|perfCgroup|perfCloexec) != 0 {
		return 0, sys.EINVAL
	}
	if err := mayUse(t, capPerfMon); err != nil {
		return 0, err
	}
	r, err := perfRequest(t, a)
	if err != nil {
		return 0, err
	}
	output := (*perf.Event)(nil)
	if a[4]&perfOutput != 0 {
		output = r.Group
	}
	if a[4]&(perfNoGroup|perfOutput) != 0 {
		r.Group = nil
	}
	f, err := perf.Open(r)
	if err != nil {
		unserved(t, r, err)
		return 0, err
	}
	if e, _ := perf.Of(f); output != nil {
		if err := e.SetOutput(output); err != nil {
			vfs.Close(f)
			return 0, err
		}
	}
	return install(t, f, a[4]&perfCloexec != 0)
}

// unserved logs what is not there of what programs ask for, once for each of them. A place that a name does not
// lead to is none of that.
func unserved(t *proc.Thread, r *perf.Request, err error) {
	if errno := errnoOf(err); errno != sys.EOPNOTSUPP && (errno != sys.ENOENT || r.Name != "") {
		return
	}
	p := t.Process()
	if path := p.Path(); firstOf(who{program: path, call: nPerfEventOpen, what: err.Error()}) {
		p.Table().Log(fmt.Sprintf("%s[%d]: perf_event_open: %s", p.Name(), p.PID, err))
	}
}

// perfRequest reads what is asked for, in Linux's order of errors.
//
// Errors: E2BIG the attributes have no size that is known; EINVAL; EBADF the group; ESRCH the thread.
func perfRequest(t *proc.Thread, a *Args) (r *perf.Request, err error) {
	r = &perf.Request{CPU: asInt(a[2])}
	if r.Attr, err = perfAttr(t, a[0]); err != nil {
		return nil, err
	}
	if a[4]&perfCgroup != 0 {
		return nil, sys.EINVAL
	}
	if group := asInt(a[3]); group != -1 {
		f, err := fileOf(t, a[3])
		if err != nil {
			return nil, err
		}
		if r.Group, err = perf.Of(f); err != nil {
			return nil, err
		}
	}
	switch tid := asInt(a[1]); {
	case tid == 0:
		r.Thread = t
	case tid != -1:
		if r.Thread, err = t.Process().Table().FindThread(0, tid); err != nil {
			return nil, sys.ESRCH
		}
	}
	if at := r.Attr.NameAt(); at != 0 {
		r.Name, err = pathAt(t, at)
	}
	if err == nil && r.Attr.IsFile() {
		r.Name, err = absolute(t, r.Name)
	}
	return r, err
}

// absolute is the path of a file as everyone can open it: that of the caller may be /proc/self/exe.
func absolute(t *proc.Thread, name string) (string, error) {
	f, err := vfs.OpenAt(start(t), name, abi.O_PATH, 0)
	if err != nil {
		return "", err
	}
	defer vfs.Close(f)
	return f.Place().Path()
}

// perfAttr copies the attributes. If their size is none, the size that is known is written there.
func perfAttr(t *proc.Thread, addr uint64) (a perf.Attr, err error) {
	const sizeAt = 4
	size, err := get[uint32](t, addr+sizeAt)
	if err != nil {
		return a, err
	}
	if size == 0 {
		size = perf.LeastAttr
	}
	err = sys.E2BIG
	if size >= perf.LeastAttr && size <= perf.MostAttr {
		raw := make([]byte, size)
		if err := t.Memory().In(raw, addr); err != nil {
			return a, err
		}
		a, err = perf.DecodeAttr(raw)
	}
	if err != nil && errnoOf(err) == sys.E2BIG {
		if e := put(t, addr+sizeAt, uint32(perf.AttrSize)); e != nil {
			return a, e
		}
	}
	return a, err
}

// Requests of ioctl.
const (
	perfEnable   = 0x2400
	perfDisable  = 0x2401
	perfReset    = 0x2403
	perfPeriod   = 0x40082404
	perfSetOut   = 0x2405
	perfID       = 0x80082407
	perfSetBPF   = 0x40042408
	perfAllFlag  = 1
	perfNoOutput = -1
)

// ioctlPerf handles the requests of an event's file.
func ioctlPerf(t *proc.Thread, e *perf.Event, request, arg uint64) error {
	each := func(f func(*perf.Event) error) error {
		if arg&perfAllFlag != 0 {
			return e.All(f)
		}
		return f(e)
	}
	switch request {
	case perfEnable, perfDisable:
		return each(func(e *perf.Event) error { return e.Enable(request == perfEnable) })
	case perfReset:
		return each(func(e *perf.Event) error { e.Reset(); return nil })
	case perfPeriod:
		n, err := get[uint64](t, arg)
		if err != nil {
			return err
		}
		return e.SetPeriod(n)
	case perfID:
		return put(t, arg, e.ID())
	case perfSetOut:
		return setOutput(t, e, arg)
	case perfSetBPF:
		return setProgram(t, e, arg)
	}
	return sys.ENOTTY
}

// setOutput has an event's samples written into the ring of a descriptor's event.
func setOutput(t *proc.Thread, e *perf.Event, fd uint64) error {
	if asInt(fd) == perfNoOutput {
		return e.SetOutput(nil)
	}
	f, err := fileOf(t, fd)
	if err != nil {
		return err
	}
	to, err := perf.Of(f)
	if err != nil {
		return err
	}
	return e.SetOutput(to)
}

// setProgram has an event run the program of a descriptor.
func setProgram(t *proc.Thread, e *perf.Event, fd uint64) error {
	f, err := filesOf(t).Descriptors().Hold(asInt(fd))
	if err != nil {
		return err
	}
	defer vfs.Close(f)
	p, err := sysbpf.ProgramOf(f)
	if err != nil {
		return err
	}
	return e.SetProgram(p, 0)
}
