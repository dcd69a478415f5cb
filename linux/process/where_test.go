package process

import (
	"fmt"
	"regexp"
	"strings"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proctest"
)

// TestWhereThreadsWait: syscall, wchan and stack say in which call a thread sleeps; of one that runs, that it does.
func TestWhereThreadsWait(t *testing.T) {
	run(t, func(p *proctest.Player) {
		p.Call(nPipe, scratch+0x800)
		r, w := uint64(p.Peek32(scratch+0x800)), uint64(p.Peek32(scratch+0x804))
		child := p.Fork(func(c *proctest.Player) {
			c.Call(nClose, w)
			c.Call(nRead, r, 0x1234, 5)
		}, nFork)
		of := fmt.Sprintf("/proc/%d/", child)
		for end := time.Now().Add(time.Minute); !strings.HasPrefix(text(p, of+"syscall"), "0 "); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the child does not read: %q", text(p, of+"syscall"))
			}
		}
		for name, want := range map[string]string{
			"syscall": fmt.Sprintf(`^0 %#x 0x1234 0x5 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+\n$`, r),
			"wchan":   `^sonde/linux/syscall\.read$`,
			"stack":   `^\[<0>\] sonde/linux/syscall\.read\n$`,
			"cgroup":  `^$`,
		} {
			if got := text(p, of+name); !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("%s of a child that reads: %q", name, got)
			}
			if got := text(p, fmt.Sprintf("%stask/%d/%s", of, child, name)); !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("%s of its thread: %q", name, got)
			}
		}
		for name, want := range map[string]string{"syscall": "running\n", "wchan": "0", "stack": ""} {
			if got := text(p, "/proc/self/"+name); got != want {
				t.Errorf("own %s: %q", name, got)
			}
		}
		p.Call(nClose, w)
		p.Call(nWait4, uint64(child), 0, 0, 0)
		if got := text(p, of+"syscall"); got != sys.ENOENT.Error() {
			t.Errorf("after the end: %q", got)
		}
	})
}

// TestPagemap: a word for each page, by its number.
func TestPagemap(t *testing.T) {
	const nPread, nMmap, page = 17, 9, 4096
	run(t, func(p *proctest.Player) {
		fd := uint64(openAs(p, "/proc/self/pagemap", abi.O_RDONLY))
		at := uint64(p.Call(nMmap, 0, 3*page, 3, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, ^uint64(0), 0))
		shared := uint64(p.Call(nMmap, 0, page, 3, abi.MAP_SHARED|abi.MAP_ANONYMOUS, ^uint64(0), 0))
		p.Poke64(at+page, 1)
		p.Poke64(shared, 1)
		word := func(addr uint64) uint64 {
			if n := p.Call(nPread, fd, scratch, 8, addr/page*8); n != 8 {
				t.Fatalf("%d bytes for %#x", n, addr)
			}
			return p.Peek64(scratch)
		}
		if n := p.Call(nPread, fd, scratch, 24, at/page*8); n != 24 || p.Peek64(scratch) != 0 || p.Peek64(scratch+16) != 0 {
			t.Errorf("%d bytes: %#x, %#x", n, p.Peek64(scratch), p.Peek64(scratch+16))
		}
		const flags = 0x1ff << 55
		private, common := word(at+page), word(shared)
		if private&flags != pagePresent || common&flags != pagePresent|pageShared || private == common {
			t.Errorf("%#x and %#x", private, common)
		}
		memory, _ := p.World.Table.Find(2)
		if want := uint64(memory.Memory().Resident(at+page)) / page; private&^flags != want || want == 0 {
			t.Errorf("frame %#x, want %#x", private&^flags, want)
		}
		for _, c := range []struct{ n, off uint64 }{{7, 0}, {8, 4}} {
			if n := p.Call(nPread, fd, scratch, c.n, c.off); n != -int64(sys.EINVAL) {
				t.Errorf("%d bytes from %d on: %d", c.n, c.off, n)
			}
		}
		if n := p.Call(nPread, fd, scratch, 8, 1<<50); n != 0 {
			t.Errorf("beyond the last page: %d", n)
		}
	})
}

// TestCoreFilterOfAProcess: /proc/PID/coredump_filter takes a number in any notation.
func TestCoreFilterOfAProcess(t *testing.T) {
	const name = "/proc/self/coredump_filter"
	run(t, func(p *proctest.Player) {
		if got := text(p, name); got != "00000033\n" {
			t.Errorf("at first %q", got)
		}
		for _, step := range []struct {
			write string
			n     int64
			then  string
		}{
			{"0x1f", 4, "0000001f\n"}, {"7\n", 2, "00000007\n"}, {"x", -int64(sys.EINVAL), "00000007\n"},
			{"0x100000000", -int64(sys.EINVAL), "00000007\n"}, {"0xffffffff", 10, "000001ff\n"},
		} {
			fd := openAs(p, name, abi.O_WRONLY)
			p.Poke(scratch, []byte(step.write))
			n := p.Call(nWrite, uint64(fd), scratch, uint64(len(step.write)))
			p.Call(nClose, uint64(fd))
			if got := text(p, name); n != step.n || got != step.then {
				t.Errorf("writing %q: %d, then %q; want %d, %q", step.write, n, got, step.n, step.then)
			}
		}
	})
}
