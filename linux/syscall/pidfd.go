package syscall

import (
	"io/fs"
	"sync"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/signal"
)

// pidFile is a process as an open file: poll reports it readable once the process has ended. It
// never refers to another process that gets the same number. It implements vfs.Handle and poll.Source.
type pidFile struct {
	vfs.Anonymous
	vfs.NoBytes
	process *proc.Process
	queue   poll.Queue
	watch   sync.Once
	closed  chan struct{}
}

// newPidFile opens a process. flag is O_NONBLOCK or 0.
func newPidFile(p *proc.Process, flag int) *vfs.File {
	f := &pidFile{Anonymous: vfs.NewAnonymous(fs.ModeIrregular | 0600), process: p, closed: make(chan struct{})}
	return vfs.NewFile("anon_inode:[pidfd]", f, f, vfs.O_RDWR|flag&vfs.O_NONBLOCK)
}

func (f *pidFile) Close() error {
	close(f.closed)
	return nil
}

func (f *pidFile) Poll() poll.Events {
	select {
	case <-f.process.Done():
		return poll.In
	default:
		return 0
	}
}

// Queue implements poll.Source. A goroutine starts only when somebody waits for the file.
func (f *pidFile) Queue() *poll.Queue {
	f.watch.Do(func() {
		go func() {
			select {
			case <-f.process.Done():
				f.queue.Notify(poll.In)
			case <-f.closed:
			}
		}()
	})
	return &f.queue
}

// processOf returns the process of a descriptor.
//
// Errors: EBADF; the file is returned if there is one.
func processOf(t *proc.Thread, fd uint64) (*vfs.File, *proc.Process, error) {
	f, err := fileOf(t, fd)
	if err != nil {
		return nil, nil, err
	}
	if p, ok := f.Handle().(*pidFile); ok {
		return f, p.process, nil
	}
	return f, nil, sys.EBADF
}

func pidfdOpen(t *proc.Thread, a *Args) (uint64, error) {
	pid, flags := asInt(a[0]), asInt(a[1])
	if pid <= 0 || flags&^abi.O_NONBLOCK != 0 {
		return 0, sys.EINVAL
	}
	p, err := t.Process().Table().Find(pid)
	switch {
	case err != nil:
		return 0, err
	case p.PID != pid:
		return 0, sys.EINVAL // a thread that does not lead its process
	}
	return install(t, newPidFile(p, flags), true)
}

// receiverOf is processOf, and returns the process of an open /proc/PID, too.
func receiverOf(t *proc.Thread, fd uint64) (*proc.Process, error) {
	f, p, err := processOf(t, fd)
	if f != nil {
		if h, ok := f.Node().(interface{ Process() *proc.Process }); ok {
			return h.Process(), nil
		}
	}
	return p, err
}

// pidfdSendSignal is kill and rt_sigqueueinfo in one.
func pidfdSendSignal(t *proc.Thread, to *proc.Process, a *Args) (uint64, error) {
	n := asInt(a[1])
	if a[3] != 0 || n != 0 && !signal.Valid(n) {
		return 0, sys.EINVAL
	}
	info, given, err := getIf[abi.Siginfo](t, a[2])
	switch {
	case err != nil:
		return 0, err
	case !given:
		info = proc.SignalFrom(t.Process(), n, abi.SI_USER)
	case int(info.Signo) != n:
		return 0, sys.EINVAL
	case to != t.Process() && (info.Code >= 0 || info.Code == abi.SI_TKILL):
		return 0, sys.EPERM
	}
	return sent(to.Send(info))
}

// waitPidFile is waitid for the process of a descriptor.
func waitPidFile(t *proc.Thread, a *Args, options int) (uint64, error) {
	f, p, err := processOf(t, a[1])
	if err != nil {
		return 0, err
	}
	nonblock := f.Flags()&abi.O_NONBLOCK != 0 && options&abi.WNOHANG == 0
	if nonblock {
		options |= abi.WNOHANG
	}
	c, err := waitFor(t, a, proc.Which{Kind: abi.P_PIDFD, Process: p}, options)
	if err == nil && nonblock && c.PID == 0 {
		err = sys.EAGAIN
	}
	return 0, err
}

// rseq refuses, as a Linux without restartable sequences, but is not named in the log: every
// program that uses glibc calls it, and continues without.
func rseq(*proc.Thread, *Args) (uint64, error) {
	countMissing(who{call: numRseq})
	return 0, sys.ENOSYS
}

const numRseq = 334
