package process

import (
	"fmt"
	"regexp"
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/proctest"
)

// TestFdinfo: what all files have, and what only those of one kind do.
func TestFdinfo(t *testing.T) {
	const nEventfd2, nEpollCreate1, nEpollCtl, nTimerfdCreate, nTimerfdSettime, nSignalfd4, nLseek = 290, 291, 233, 283, 286, 289, 8
	run(t, func(p *proctest.Player) {
		file := openAs(p, "/fdinfo", abi.O_CREAT|abi.O_RDWR|abi.O_APPEND)
		p.Call(nLseek, uint64(file), 7, 0)
		p.Call(nEventfd2, 255, abi.O_CLOEXEC)
		p.Call(nEpollCreate1, 0)
		p.Poke(scratch, []byte{1, 0, 0, 0, 0x4d, 0, 0, 0, 0, 0, 0, 0})
		p.Call(nEpollCtl, 2, 1, 1, scratch)
		p.Call(nTimerfdCreate, abi.CLOCK_MONOTONIC, abi.O_NONBLOCK)
		spec := abi.Itimerspec{Interval: abi.Timespec{Sec: 3, Nsec: 5}, Value: abi.Timespec{Sec: 3600}}
		p.Poke(scratch, abi.Bytes(&spec))
		p.Call(nTimerfdSettime, 3, 0, scratch, 0)
		p.Poke64(scratch, 1<<(abi.SIGUSR1-1)|1<<(abi.SIGINT-1))
		p.Call(nSignalfd4, minus, scratch, 8, 0)
		for fd, want := range []string{
			`^pos:\t7\nflags:\t0102002\nmnt_id:\t1\nino:\t\d+\n$`,
			`^pos:\t0\nflags:\t02000002\nmnt_id:\t9\nino:\t\d+\neventfd-count: +ff\n$`,
			`\ntfd:        1 events:        1 data:               4d  pos:0 ino:[0-9a-f]+ sdev:1\n$`,
			`^pos:\t0\nflags:\t04002\n(.*\n)*clockid: 1\nticks: 0\nsettime flags: 00\nit_value: \(3599, \d+\)\nit_interval: \(3, 5\)\n$`,
			`\nsigmask:\t0000000000000202\n$`,
		} {
			if got := text(p, fmt.Sprint("/proc/self/fdinfo/", fd)); !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("%d: %q does not match %s", fd, got, want)
			}
		}
		if got := text(p, "/proc/self/fdinfo/99"); got != sys.ENOENT.Error() {
			t.Errorf("of no file: %q", got)
		}
	})
}

const minus = ^uint64(0) // -1
