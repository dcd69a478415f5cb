package syscall

import (
	"encoding/binary"
	"strings"
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/perf"
)

// Types and values of events that the host has, too.
const (
	perfSoftware = 1
	perfDummy    = 9
	perfBPF      = 10
)

// openPerf opens an event of the calling thread, with attributes of that size.
func openPerf(p *player, a perf.Attr, size uint32, more ...byte) int64 {
	a.Size = size
	p.Poke(scratch, append(abi.Bytes(&a), more...))
	return p.Call(nPerfEventOpen, scratch, 0, minus, minus, 0)
}

// TestPerfAttributesOfAllSizes: as Linux, so that programs of all ages can ask.
func TestPerfAttributesOfAllSizes(t *testing.T) {
	run(t, func(p *player) {
		dummy := perf.Attr{Type: perfSoftware, Config: perfDummy}
		for _, size := range []uint32{0, 64, 72, 112, 128, 136} {
			if fd := openPerf(p, dummy, size); fd < 0 {
				t.Errorf("%d bytes: %d", size, fd)
			}
		}
		for _, size := range []uint32{1, 63, 4097, 1 << 31} {
			want(t, p, "a size that is none", openPerf(p, dummy, size), errno(sys.E2BIG))
			if got := binary.LittleEndian.Uint32(p.Peek(scratch+4, 4)); got != perf.AttrSize {
				t.Errorf("%d bytes: the size that is known is said to be %d", size, got)
			}
		}
		if fd := openPerf(p, dummy, 144, make([]byte, 8)...); fd < 0 {
			t.Errorf("zeroes behind: %d", fd)
		}
		want(t, p, "something behind", openPerf(p, dummy, 144, 0, 0, 0, 1, 0, 0, 0, 0), errno(sys.E2BIG))
		if got := binary.LittleEndian.Uint32(p.Peek(scratch+4, 4)); got != perf.AttrSize {
			t.Errorf("the size that is known is said to be %d", got)
		}
		dummy.Flags = 1 << 40
		want(t, p, "a reserved flag", openPerf(p, dummy, 136), errno(sys.EINVAL))
	})
}

func TestPerfEventOpenRefuses(t *testing.T) {
	run(t, func(p *player) {
		open := func(a perf.Attr, pid, cpu, group, flags uint64) int64 {
			a.Size = perf.AttrSize
			p.Poke(scratch, abi.Bytes(&a))
			return p.Call(nPerfEventOpen, scratch, pid, cpu, group, flags)
		}
		dummy := perf.Attr{Type: perfSoftware, Config: perfDummy}
		want(t, p, "no memory", p.Call(nPerfEventOpen, 0, 0, minus, minus, 0), errno(sys.EFAULT))
		want(t, p, "flags", open(dummy, 0, minus, minus, 16), errno(sys.EINVAL))
		want(t, p, "a group that is no file", open(dummy, 0, minus, 99, 0), errno(sys.EBADF))
		file := openNew(p, "/perf", abi.O_RDWR)
		want(t, p, "a group that is no event", open(dummy, 0, minus, file, 0), errno(sys.EBADF))
		want(t, p, "no such thread", open(dummy, 9999, minus, minus, 0), errno(sys.ESRCH))
		want(t, p, "neither thread nor CPU", open(dummy, minus, minus, minus, 0), errno(sys.EINVAL))
		want(t, p, "no such CPU", open(dummy, minus, 99, minus, 0), errno(sys.EINVAL))
		want(t, p, "a control group", open(dummy, file, 0, minus, 4), errno(sys.EINVAL))
		want(t, p, "the processor's counters", open(perf.Attr{}, 0, minus, minus, 0), errno(sys.ENOENT))
		want(t, p, "a uprobe whose name is nowhere", open(perf.Attr{Type: 7, Config1: 1}, minus, 0, minus, 0), errno(sys.EFAULT))
		fd := open(dummy, 0, minus, minus, 8)
		want(t, p, "closed by exec", p.Call(nFcntl, uint64(fd), abi.F_GETFD), abi.FD_CLOEXEC)
		want(t, p, "in a group", open(dummy, 0, minus, uint64(fd), 0), fd+1)
	})
}

func TestPerfIoctl(t *testing.T) {
	run(t, func(p *player) {
		fd := uint64(openPerf(p, perf.Attr{Type: perfSoftware, Config: 1, Flags: 1, Read: 4}, perf.AttrSize)) // this thread's time
		read := func() uint64 {
			want(t, p, "read", p.Call(nRead, fd, scratch, 16), 16)
			return p.Peek64(scratch)
		}
		if n := read(); n != 0 {
			t.Errorf("disabled, it counts %d", n)
		}
		want(t, p, "enable", p.Call(nIoctl, fd, 0x2400, 0), 0)
		for range 1000 {
			p.Call(nGetpid)
		}
		first := read()
		want(t, p, "disable", p.Call(nIoctl, fd, 0x2401, 0), 0)
		stopped := read()
		p.Call(nGetpid)
		if again := read(); first == 0 || stopped < first || again != stopped {
			t.Errorf("it counts %d, %d, %d", first, stopped, again)
		}
		want(t, p, "reset", p.Call(nIoctl, fd, 0x2403, 0), 0)
		if n := read(); n != 0 {
			t.Errorf("reset, it counts %d", n)
		}
		id := p.Peek64(scratch + 8)
		want(t, p, "id", p.Call(nIoctl, fd, 0x80082407, scratch), 0)
		if got := p.Peek64(scratch); got != id {
			t.Errorf("its number is %d, and %d by read", got, id)
		}
		want(t, p, "too little room", p.Call(nRead, fd, scratch, 8), errno(sys.ENOSPC))
		want(t, p, "a period where there are no samples", p.Call(nIoctl, fd, 0x40082404, scratch), errno(sys.EINVAL))
		want(t, p, "no program", p.Call(nIoctl, fd, 0x40042408, 99), errno(sys.EBADF))
		want(t, p, "a file that is none", p.Call(nIoctl, fd, 0x40042408, fd), errno(sys.EINVAL))
		want(t, p, "no such request", p.Call(nIoctl, fd, 0x24ff, 0), errno(sys.ENOTTY))
		want(t, p, "the output of no event", p.Call(nIoctl, fd, 0x2405, 99), errno(sys.EBADF))
		want(t, p, "write", p.Call(nWrite, fd, scratch, 8), errno(sys.EINVAL))
		want(t, p, "seek", p.Call(nLseek, fd, 0, 0), errno(sys.ESPIPE))
	})
}

// TestPerfLogsWhatIsNotThere: once.
func TestPerfLogsWhatIsNotThere(t *testing.T) {
	w := world(t)
	finish(t, w, begin(t, w, func(p *player) {
		for range 3 {
			openPerf(p, perf.Attr{Type: perfSoftware, Config: 77}, perf.AttrSize)
			openPerf(p, perf.Attr{Type: perfSoftware, Sample: 1 << 12}, perf.AttrSize)
		}
	}))
	got := strings.Join(w.Log(), "\n")
	for _, text := range []string{"perf_event_open: software event 77 is not counted here", "perf_event_open: samples with 0x1000"} {
		if strings.Count(got, text) != 1 {
			t.Errorf("the log does not say %q once:\n%s", text, got)
		}
	}
}
