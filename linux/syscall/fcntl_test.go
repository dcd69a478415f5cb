package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
)

func TestPipesHaveASize(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe2, scratch, abi.O_NONBLOCK)
		r, w := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		want(t, p, "at first", p.Call(nFcntl, r, abi.F_GETPIPE_SZ), 65536)
		want(t, p, "one byte", p.Call(nFcntl, w, abi.F_SETPIPE_SZ, 1), 4096)
		want(t, p, "of the other end", p.Call(nFcntl, r, abi.F_GETPIPE_SZ), 4096)
		want(t, p, "fill it", p.Call(nWrite, w, scratch, 5000), 4096)
		want(t, p, "grow", p.Call(nFcntl, r, abi.F_SETPIPE_SZ, 8192), 8192)
		want(t, p, "more fits", p.Call(nWrite, w, scratch, 5000), 4096)
		want(t, p, "too small", p.Call(nFcntl, w, abi.F_SETPIPE_SZ, 4096), errno(sys.EBUSY))
		want(t, p, "too large", p.Call(nFcntl, w, abi.F_SETPIPE_SZ, 1<<31+1), errno(sys.EINVAL))
		file := openNew(p, "/file", abi.O_RDWR)
		want(t, p, "a file's", p.Call(nFcntl, file, abi.F_GETPIPE_SZ), errno(sys.EBADF))
		want(t, p, "a file's", p.Call(nFcntl, file, abi.F_SETPIPE_SZ, 8192), errno(sys.EBADF))
	})
}
