package syscall

import (
	"bytes"
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/linux/proctest"
	"sonde/linux/space"
)

// edge is the end of the program's memory: the next page is not mapped.
const edge = proctest.Data + proctest.DataSize

const (
	nReadv, nWritev, nGetdents, nGetrandom, nSendfile, nMkdir, nRmdir, nIoctl, nPipe2, nPpoll = 19, 20, 217, 318, 40, 83, 84, 16, 293, 271
)

// TestReadIntoMemoryThatEnds: the count is that of the stored bytes, and the rest can still be
// read. It used to be that of the bytes taken from the file, and the rest was lost.
func TestReadIntoMemoryThatEnds(t *testing.T) {
	run(t, func(p *player) {
		f := openNew(p, "/edge", abi.O_RDWR)
		p.PokeString(scratch, "0123456789")
		p.Call(nWrite, f, scratch, 10)
		p.Call(nLseek, f, 0, 0)
		want(t, p, "nothing can be stored", p.Call(nRead, f, edge, 10), errno(sys.EFAULT))
		want(t, p, "position", p.Call(nLseek, f, 0, 1), 0)
		want(t, p, "a part", p.Call(nRead, f, edge-4, 10), 4)
		want(t, p, "position", p.Call(nLseek, f, 0, 1), 4)
		p.Poke(scratch, abi.Bytes(&[2]abi.Iovec{{Base: edge - 3, Len: 3}, {Base: edge, Len: 2}}))
		want(t, p, "readv", p.Call(nReadv, f, scratch, 2), 3)
		want(t, p, "position", p.Call(nLseek, f, 0, 1), 7)
		want(t, p, "pread", p.Call(nPread, f, edge-2, 10, 7), 2)
		if got := p.Peek(edge-2, 2); string(got) != "78" {
			t.Errorf("pread stored %q", got)
		}
		want(t, p, "pread", p.Call(nPread, f, edge, 10, 7), errno(sys.EFAULT))
		want(t, p, "the end", p.Call(nPread, f, edge, 10, 10), 0)
		want(t, p, "no address at all", p.Call(nRead, f, userEnd, 1), errno(sys.EFAULT))
		want(t, p, "around the end", p.Call(nRead, f, scratch, minus), errno(sys.EFAULT))
	})
}

func TestPipeKeepsWhatCannotBeStored(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		r, w := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		buf := uint64(proctest.Data + 4*space.PageSize)
		text := bytes.Repeat([]byte("0123456789abcdef"), 3*space.PageSize/16)
		p.Poke(buf, text)
		p.Call(nWrite, w, buf, uint64(len(text)))
		want(t, p, "nothing", p.Call(nRead, r, edge, 10), errno(sys.EFAULT))
		want(t, p, "less than a page", p.Call(nRead, r, edge-10, 30), errno(sys.EFAULT))
		want(t, p, "a page", p.Call(nRead, r, edge-space.PageSize-10, 3*space.PageSize), space.PageSize)
		p.Poke(buf, make([]byte, len(text)))
		want(t, p, "the rest", p.Call(nRead, r, buf, 3*space.PageSize), 2*space.PageSize)
		if got := p.Peek(buf, 2*space.PageSize); !bytes.Equal(got, text[space.PageSize:]) {
			t.Errorf("the rest is %q…", got[:32])
		}
		want(t, p, "write nothing", p.Call(nWrite, w, edge, 10), errno(sys.EFAULT))
		want(t, p, "less than a page", p.Call(nWrite, w, edge-10, 30), errno(sys.EFAULT))
		want(t, p, "a page", p.Call(nWrite, w, edge-space.PageSize-10, 3*space.PageSize), space.PageSize)
		p.Call(nIoctl, r, abi.FIONREAD, scratch)
		want(t, p, "in the pipe", int64(p.Peek32(scratch)), space.PageSize)
	})
}

func TestWriteFromMemoryThatEnds(t *testing.T) {
	run(t, func(p *player) {
		f := openNew(p, "/edge", abi.O_RDWR)
		want(t, p, "nothing", p.Call(nWrite, f, edge, 10), errno(sys.EFAULT))
		want(t, p, "a part", p.Call(nWrite, f, edge-4, 10), 4)
		p.Poke(scratch, abi.Bytes(&[2]abi.Iovec{{Base: edge - 3, Len: 5}, {Base: scratch, Len: 2}}))
		want(t, p, "writev", p.Call(nWritev, f, scratch, 2), 3)
		want(t, p, "position", p.Call(nLseek, f, 0, 1), 7)
	})
}

// TestEntriesThatCannotBeStoredComeAgain: getdents64 and getrandom store what fits.
func TestEntriesThatCannotBeStoredComeAgain(t *testing.T) {
	run(t, func(p *player) {
		p.PokeString(scratch, "/entries")
		p.Call(nMkdir, scratch, 0o700)
		d := uint64(p.Call(nOpen, scratch, abi.O_RDONLY))
		want(t, p, "nothing", p.Call(nGetdents, d, edge, 1000), errno(sys.EFAULT))
		want(t, p, "one entry", p.Call(nGetdents, d, edge-30, 1000), 24)
		want(t, p, "the other one", p.Call(nGetdents, d, edge-30, 1000), 24)
		want(t, p, "the end", p.Call(nGetdents, d, edge-30, 1000), 0)
		p.Call(nRmdir, scratch)
		want(t, p, "getrandom", p.Call(nGetrandom, edge-10, 30, 0), 10)
		want(t, p, "getrandom", p.Call(nGetrandom, edge, 30, 0), errno(sys.EFAULT))
	})
}

// TestSendfileTakesWhatItHasWritten: a full pipe takes only a part, and the file position follows
// that part.
func TestSendfileTakesWhatItHasWritten(t *testing.T) {
	run(t, func(p *player) {
		f := openNew(p, "/edge", abi.O_RDWR)
		p.Call(nFtruncate, f, 100<<10)
		p.Call(nPipe2, scratch, abi.O_NONBLOCK)
		w := uint64(p.Peek32(scratch + 4))
		want(t, p, "sendfile", p.Call(nSendfile, w, f, 0, 100<<10), 64<<10)
		want(t, p, "position", p.Call(nLseek, f, 0, 1), 64<<10)
		want(t, p, "full", p.Call(nSendfile, w, f, 0, 100<<10), errno(sys.EAGAIN))
		want(t, p, "position", p.Call(nLseek, f, 0, 1), 64<<10)
	})
}

// TestPollOfAClosedDescriptor: each entry says POLLNVAL. It used to be 0, although the result
// counted it.
func TestPollOfAClosedDescriptor(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		p.Call(nWrite, uint64(p.Peek32(scratch+4)), scratch, 1)
		for _, call := range []uint64{nPoll, nPpoll} {
			p.Poke(scratch, abi.Bytes(&[4]abi.PollFD{
				{FD: 77, Events: abi.POLLIN}, {FD: 0, Events: abi.POLLIN}, {FD: -1, Revents: 5}, {FD: 78},
			}))
			want(t, p, "poll", p.Call(call, scratch, 4, 0, 0, 0), 3)
			got := [4]abi.PollFD{}
			copy(abi.Bytes(&got), p.Peek(scratch, 32))
			if got[0].Revents != int16(poll.Nval) || got[1].Revents != abi.POLLIN || got[2].Revents != 0 || got[3].Revents != int16(poll.Nval) {
				t.Errorf("call %d: %+v", call, got)
			}
		}
	})
}
