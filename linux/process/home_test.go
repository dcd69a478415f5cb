package process

import (
	"fmt"
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/proctest"
)

// TestSignalsToAFolder: an open /proc/PID is a pidfd for pidfd_send_signal, and for nothing else. It
// never stands for another process that gets the same number.
func TestSignalsToAFolder(t *testing.T) {
	const nPause, nSend, nWaitid = 34, 424, 247
	run(t, func(p *proctest.Player) {
		pid := p.Fork(func(c *proctest.Player) { c.Call(nPause) }, nFork)
		fd := uint64(openAs(p, fmt.Sprintf("/proc/%d", pid), abi.O_RDONLY|abi.O_DIRECTORY))
		path := uint64(openAs(p, fmt.Sprintf("/proc/%d", pid), abi.O_PATH))
		task := uint64(openAs(p, fmt.Sprintf("/proc/%d/task", pid), abi.O_RDONLY))
		for _, tt := range []struct {
			what      string
			got, want int64
		}{
			{"ask", p.Call(nSend, fd, 0, 0, 0), 0},
			{"by O_PATH", p.Call(nSend, path, 0, 0, 0), -int64(sys.EBADF)},
			{"a folder below", p.Call(nSend, task, 0, 0, 0), -int64(sys.EBADF)},
			{"wait", p.Call(nWaitid, abi.P_PIDFD, fd, scratch, abi.WEXITED, 0), -int64(sys.EBADF)},
			{"kill", p.Call(nSend, fd, abi.SIGKILL, 0, 0), 0},
			{"its end", p.Call(nWait4, uint64(pid), scratch, 0, 0), pid},
			{"status", int64(p.Peek32(scratch)), abi.SIGKILL},
			{"gone", p.Call(nSend, fd, 0, 0, 0), -int64(sys.ESRCH)},
		} {
			if tt.got != tt.want {
				t.Errorf("%s: %d, want %d", tt.what, tt.got, tt.want)
			}
		}
	})
}
