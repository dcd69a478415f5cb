package syscall

import (
	"encoding/binary"
	"fmt"
	"strings"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/sysctl"
)

const nInotifyInit1, nInotifyAdd, nInotifyRm, nRename, nExchange = 294, 254, 255, 82, 316

// newInotify makes a non-blocking instance.
func newInotify(t *testing.T, p *player) uint64 {
	t.Helper()
	fd := p.Call(nInotifyInit1, abi.O_NONBLOCK)
	if fd < 0 {
		t.Fatalf("inotify_init1: %d", fd)
	}
	return uint64(fd)
}

func watch(p *player, fd uint64, path string, mask uint64) int64 {
	p.PokeString(pathAddr, path)
	return p.Call(nInotifyAdd, fd, pathAddr, mask)
}

// at makes a call about a path.
func at(p *player, n uint64, path string, args ...uint64) int64 {
	p.PokeString(pathAddr, path)
	return p.Call(n, append([]uint64{pathAddr}, args...)...)
}

// happened reads events: the watch and the bits, a + for a cookie, and the name.
func happened(p *player, fd uint64) string {
	var all []string
	n := p.Call(nRead, fd, scratch, 4096)
	for b := p.Peek(scratch, int(max(n, 0))); len(b) > 0; {
		size := 16 + binary.LittleEndian.Uint32(b[12:])
		cookie := ""
		if binary.LittleEndian.Uint32(b[8:]) != 0 {
			cookie = "+"
		}
		name, _, _ := strings.Cut(string(b[16:size]), "\x00")
		all = append(all, fmt.Sprintf("%d:%x%s%s", int32(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:]), cookie, name))
		b = b[size:]
	}
	return strings.Join(all, " ")
}

func tells(t *testing.T, p *player, fd uint64, what, want string) {
	t.Helper()
	if got := happened(p, fd); got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestInotifyTells(t *testing.T) {
	run(t, func(p *player) {
		fd := newInotify(t, p)
		at(p, nMkdir, "/watched", 0755)
		want(t, p, "watch", watch(p, fd, "/watched", abi.IN_ALL_EVENTS), 1)
		f := uint64(at(p, nOpen, "/watched/a", abi.O_CREAT|abi.O_TRUNC|abi.O_RDWR, 0644))
		tells(t, p, fd, "create", "1:100a 1:20a")
		want(t, p, "watch", watch(p, fd, "/watched/a", abi.IN_ALL_EVENTS), 2)
		p.Call(nWrite, f, scratch, 10)
		p.Call(nPread, f, scratch, 10, 0)
		tells(t, p, fd, "write, read", "1:2a 2:2 1:1a 2:1")
		p.PokeString(pathAddr+64, "/watched/b")
		at(p, nRename, "/watched/a", pathAddr+64)
		p.Call(nWrite, f, scratch, 1)
		tells(t, p, fd, "rename, write", "1:40+a 1:80+b 2:800 1:2b 2:2")
		at(p, nMkdir, "/watched/d", 0755)
		p.PokeString(pathAddr+64, "/watched/d")
		at(p, nOpen, "/watched/b", 0)
		tells(t, p, fd, "mkdir, open", "1:40000100d 1:20b 2:20")
		p.PokeString(pathAddr, "/watched/b")
		want(t, p, "exchange", p.Call(nExchange, cwd, pathAddr, cwd, pathAddr+64, abi.RENAME_EXCHANGE), 0)
		tells(t, p, fd, "exchange", "1:40+b 1:80+d 1:40000040+d 1:40000080+b 2:800")
		at(p, nRmdir, "/watched/b")
		at(p, nUnlink, "/watched/d")
		tells(t, p, fd, "remove", "1:40000200b 2:4 1:200d")
		p.Call(nClose, f)
		tells(t, p, fd, "close", "1:8d 2:8")
		p.Call(nClose, f+1)
		tells(t, p, fd, "close the last", "1:10d 2:10 2:400 2:8000")
		at(p, nRmdir, "/watched")
		tells(t, p, fd, "its own end", "1:400 1:8000")
		want(t, p, "no watch", p.Call(nInotifyRm, fd, 1), errno(sys.EINVAL))
	})
}

// TestInotifyLimits: events beyond the limit are lost, and an event reports that; the numbers of
// watches and instances are limited, and closed ones do not count.
func TestInotifyLimits(t *testing.T) {
	set := func(name, value string) (restore func()) {
		for _, k := range sysctl.All() {
			if k.Name() == "fs.inotify."+name {
				before := k.String()
				k.Set(value)
				return func() { k.Set(before) }
			}
		}
		t.Fatal(name)
		return nil
	}
	defer set("max_queued_events", "3")()
	defer set("max_user_instances", "2")()
	defer set("max_user_watches", "2")()
	run(t, func(p *player) {
		fd := newInotify(t, p)
		for _, name := range []string{"/x", "/y", "/z"} {
			p.Call(nClose, uint64(at(p, nOpen, name, abi.O_CREAT, 0644)))
		}
		watch(p, fd, "/x", abi.IN_ALL_EVENTS)
		watch(p, fd, "/y", abi.IN_ALL_EVENTS)
		want(t, p, "too many", watch(p, fd, "/z", abi.IN_ALL_EVENTS), errno(sys.ENOSPC))
		for range 3 {
			p.Call(nClose, uint64(at(p, nOpen, "/x", 0)))
		}
		want(t, p, "size", p.Call(nIoctl, fd, abi.FIONREAD, scratch), 0)
		want(t, p, "of four", int64(p.Peek32(scratch)), 64)
		want(t, p, "a short reading", p.Call(nRead, fd, scratch, 15), errno(sys.EINVAL))
		tells(t, p, fd, "overflow", "1:20 1:10 1:20 -1:4000")
		want(t, p, "poll", ready(p, fd, 0), 0)
		other := newInotify(t, p)
		want(t, p, "too many", p.Call(nInotifyInit1, 0), errno(sys.EMFILE))
		p.Call(nClose, other)
		p.Call(nClose, fd)
		fd = newInotify(t, p)
		want(t, p, "again", watch(p, fd, "/x", abi.IN_ALL_EVENTS|abi.IN_ONESHOT), 1)
		at(p, nOpen, "/x", 0)
		tells(t, p, fd, "one shot", "1:20 1:8000")
		want(t, p, "again", watch(p, fd, "/y", abi.IN_OPEN), 2)
		want(t, p, "and more", watch(p, fd, "/z", abi.IN_OPEN), 3)
		for _, name := range []string{"/x", "/y", "/z"} {
			at(p, nUnlink, name)
		}
	})
}

// TestInotifyWaits: it waits for another process; a kill, a signal and a close end the wait.
func TestInotifyWaits(t *testing.T) {
	run(t, func(p *player) {
		fd := uint64(p.Call(nInotifyInit1, 0))
		at(p, nMkdir, "/waited", 0755)
		watch(p, fd, "/waited", abi.IN_CREATE)
		child := p.Fork(func(c *player) {
			sleep(c, 5*time.Millisecond)
			at(c, nMkdir, "/waited/in", 0755)
		}, nFork)
		want(t, p, "poll", ready(p, fd, minus), 1)
		tells(t, p, fd, "the child's", "1:40000100in")
		p.Call(nWait4, uint64(child), 0, 0, 0)
		child = p.Fork(func(c *player) { c.Call(nRead, fd, scratch, 4096) }, nFork)
		p.Call(nKill, uint64(child), abi.SIGKILL)
		want(t, p, "wait", p.Call(nWait4, uint64(child), 0, 0, 0), child)
		thread(p, func(c *player) {
			want(t, c, "read", c.Call(nRead, fd, scratch+512, 512), errno(sys.EBADF))
		}, scratch+0x400)
		sleep(p, 5*time.Millisecond)
		p.Call(nClose, fd)
		joined(t, p, scratch+0x400)
		at(p, nRmdir, "/waited/in")
		at(p, nRmdir, "/waited")
	})
}

func TestInotifyRefuses(t *testing.T) {
	run(t, func(p *player) {
		inval := errno(sys.EINVAL)
		fd := newInotify(t, p)
		want(t, p, "flags", p.Call(nInotifyInit1, 1), inval)
		want(t, p, "no bits", watch(p, fd, "/", 0), inval)
		want(t, p, "both", watch(p, fd, "/", abi.IN_OPEN|abi.IN_MASK_ADD|abi.IN_MASK_CREATE), inval)
		want(t, p, "no file", watch(p, fd, "/absent", abi.IN_OPEN), errno(sys.ENOENT))
		want(t, p, "no address", p.Call(nInotifyAdd, fd, 8, abi.IN_OPEN), errno(sys.EFAULT))
		want(t, p, "no descriptor", watch(p, 99, "/", abi.IN_OPEN), errno(sys.EBADF))
		p.Call(nPipe, scratch)
		want(t, p, "a pipe", watch(p, uint64(p.Peek32(scratch)), "/", abi.IN_OPEN), inval)
		want(t, p, "remove from a pipe", p.Call(nInotifyRm, uint64(p.Peek32(scratch)), 1), inval)
		want(t, p, "write", p.Call(nWrite, fd, scratch, 1), errno(sys.EBADF))
		want(t, p, "watch", watch(p, fd, "/", abi.IN_OPEN), 1)
		want(t, p, "create", watch(p, fd, "/", abi.IN_OPEN|abi.IN_MASK_CREATE), errno(sys.EEXIST))
		want(t, p, "remove", p.Call(nInotifyRm, fd, 1), 0)
		tells(t, p, fd, "removed", "1:8000")
	})
}
