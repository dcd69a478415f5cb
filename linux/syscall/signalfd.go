package syscall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/signal"
)

// signalFile returns the signals of a set to its readers: to each thread its own, also after a
// fork. So its state and its reads depend on the thread: signalSource implements them, not the
// methods of vfs.Handle. It implements poll.Source and vfs.Describer.
type signalFile struct {
	vfs.Anonymous
	vfs.NoBytes
	set   atomic.Uint64
	queue poll.Queue
}

// signalInfo is struct signalfd_siginfo.
const signalInfo = 128

// errByThread says that only a thread can read a signalFile.
var errByThread = errors.New("signals are a thread's")

// ReadAt implements vfs.Handle. Errors: errByThread; EINVAL.
func (f *signalFile) ReadAt(p []byte, _ int64) (int, error) {
	if len(p) < signalInfo {
		return 0, sys.EINVAL
	}
	return 0, errByThread
}

// Poll implements poll.Source: without a thread there are no signals.
func (f *signalFile) Poll() poll.Events { return 0 }

func (f *signalFile) Queue() *poll.Queue   { return &f.queue }
func (f *signalFile) Describe(w io.Writer) { fmt.Fprintf(w, "sigmask:\t%016x\n", f.set.Load()) }

// signalSource is a signalFile as one thread sees it. It implements poll.Source.
type signalSource struct {
	thread *proc.Thread
	file   *signalFile
}

func (s signalSource) set() signal.Set { return signal.Set(s.file.set.Load()) }

func (s signalSource) Poll() poll.Events {
	if s.thread.HasSignal(s.set()) {
		return poll.In
	}
	return 0
}

func (s signalSource) Queue() *poll.Queue { return s.thread.Process().SignalQueue() }

// sourceOf returns the source on which t waits for f.
func sourceOf(t *proc.Thread, f *vfs.File) poll.Source {
	if s, ok := f.Handle().(*signalFile); ok {
		return signalSource{t, s}
	}
	return f
}

// read stores as many signals in b as are pending and fit. With wait it sleeps until there is one.
//
// Errors: EAGAIN, EINTR.
func (s signalSource) read(b []byte, wait bool) (n int, err error) {
	for {
		for n+signalInfo <= len(b) {
			info, ok := s.thread.TakeSignal(s.set())
			if !ok {
				break
			}
			putSignalInfo(b[n:n+signalInfo], &info)
			n += signalInfo
		}
		switch {
		case n > 0:
			return n, nil
		case !wait:
			return 0, sys.EAGAIN
		}
		if err := poll.Until(s, poll.In, s.thread.Cancel()); err != nil {
			return 0, err
		}
	}
}

// putSignalInfo stores a struct signalfd_siginfo. Which of its fields are valid depends on the
// signal and on its sender.
//
// Source: Linux, signalfd(2).
func putSignalInfo(b []byte, i *abi.Siginfo) {
	clear(b)
	put := func(at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }
	put64 := func(at int, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }
	put(0, uint32(i.Signo))
	put(4, uint32(i.Errno))
	put(8, uint32(i.Code))
	pid, uid := i.Sender()
	switch n := int(i.Signo); {
	case i.Code == abi.SI_TIMER:
		put(24, uint32(i.Timer()))
		put(32, uint32(i.Overrun()))
		put(44, uint32(i.Value()))
		put64(48, i.Value())
		return
	case i.Code > 0 && i.Code < abi.SI_KERNEL && isFault(n):
		put64(72, i.Addr())
		return
	}
	put(12, pid)
	put(16, uid)
	switch {
	case i.Code > 0 && i.Signo == abi.SIGCHLD:
		put(40, uint32(i.Status()))
		user, system := i.Times()
		put64(56, uint64(user))
		put64(64, uint64(system))
	case i.Code < 0 && i.Code != abi.SI_TKILL:
		put(44, uint32(i.Value()))
		put64(48, i.Value())
	}
}

// isFault reports whether a signal may report an instruction and an address.
func isFault(n int) bool {
	return signal.Of(abi.SIGSEGV, abi.SIGBUS, abi.SIGILL, abi.SIGTRAP, abi.SIGFPE).Has(n)
}

// signalfd4 opens a signalFile, or changes the set of an open one.
func signalfd4(t *proc.Thread, a *Args) (uint64, error) {
	if a[2] != setSize {
		return 0, sys.EINVAL
	}
	set, err := get[signal.Set](t, a[1])
	if err != nil {
		return 0, err
	}
	flags := asInt(a[3])
	if flags&^(abi.O_CLOEXEC|abi.O_NONBLOCK) != 0 {
		return 0, sys.EINVAL
	}
	set &^= signal.Unblockable
	if asInt(a[0]) != -1 {
		return uint64(asInt(a[0])), changeSignals(t, a[0], set)
	}
	f := &signalFile{Anonymous: vfs.NewAnonymous(fs.ModeIrregular | 0600)}
	f.set.Store(uint64(set))
	file := vfs.NewFile("anon_inode:[signalfd]", f, f, vfs.O_RDWR|flags&abi.O_NONBLOCK)
	return install(t, file, flags&abi.O_CLOEXEC != 0)
}

// changeSignals changes the set of a signalFile. Waiters check again.
//
// Errors: EBADF, EINVAL.
func changeSignals(t *proc.Thread, fd uint64, set signal.Set) error {
	file, err := fileOf(t, fd)
	if err != nil {
		return err
	}
	f, ok := file.Handle().(*signalFile)
	if !ok {
		return sys.EINVAL
	}
	f.set.Store(uint64(set))
	t.Process().SignalQueue().Notify(poll.In)
	return nil
}
