package syscall

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/sysctl"
)

const nChdir, nMadvise = 80, 28

// inFolder makes a folder, and goes there.
func inFolder(t *testing.T, p *player, path string) {
	t.Helper()
	p.PokeString(pathAddr, path)
	p.Call(nMkdir, pathAddr, 0o755)
	want(t, p, "chdir", p.Call(nChdir, pathAddr), 0)
}

// dies returns the status and the siginfo of a child that does something and sends itself a signal.
func dies(t *testing.T, p *player, limit, signal uint64, before proctest.Program) (proc.Status, abi.Siginfo) {
	t.Helper()
	pid := uint64(p.Fork(func(c *player) {
		limitTo(c, 0, abi.RLIMIT_CORE, limit)
		if before != nil {
			before(c)
		}
		c.Poke64(scratch, 0x6d61726b) // a mark
		c.Call(nKill, uint64(c.Call(nGetpid)), signal)
	}, nFork))
	want(t, p, "waitid", p.Call(nWaitid, abi.P_PID, pid, scratch, abi.WEXITED|abi.WNOWAIT, 0), 0)
	info := siginfoAt(p, scratch)
	want(t, p, "wait4", p.Call(nWait4, pid, scratch, 0, 0), int64(pid))
	return proc.Status(p.Peek32(scratch)), info
}

func coreFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := fs.ReadFile(vfs.Root, strings.TrimPrefix(path, "/"))
	if err != nil {
		t.Error(err)
	}
	return b
}

func exists(path string) bool {
	_, err := vfs.Root.PlaceAt(vfs.Root.RootPlace(), path, true, false)
	return err == nil
}

// TestCoreFile: a signal whose default is a core file leaves one, and wait says so; not without the limit, not if
// the process is not dumpable, not by other signals, and not if the file cannot be made.
func TestCoreFile(t *testing.T) {
	const all = abi.RLIM_INFINITY
	notDumpable := func(c *player) { want(t, c, "prctl", c.Call(nPrctl, abi.PR_SET_DUMPABLE, 0), 0) }
	run(t, func(p *player) {
		inFolder(t, p, "/cores")
		for i, c := range []struct {
			limit, signal uint64
			before        proctest.Program
			dumped        bool
		}{
			{all, abi.SIGABRT, nil, true},
			{4096, abi.SIGQUIT, nil, true},
			{4095, abi.SIGABRT, nil, false},
			{0, abi.SIGSEGV, nil, false},
			{all, abi.SIGTERM, nil, false},
			{all, abi.SIGKILL, nil, false},
			{all, abi.SIGABRT, notDumpable, false},
			{all, abi.SIGABRT, func(c *player) { inFolder(t, c, "/cores/core") }, true},
			{all, abi.SIGABRT, func(c *player) { inFolder(t, c, "/cores/core"); inFolder(t, c, "/cores") }, false},
		} {
			p.PokeString(pathAddr, "/cores/core")
			p.Call(nUnlink, pathAddr)
			status, info := dies(t, p, c.limit, c.signal, c.before)
			code, flag := int32(abi.CLD_KILLED), uint64(0)
			if c.dumped {
				code, flag = abi.CLD_DUMPED, 0x80
			}
			if status != proc.Status(c.signal|flag) || info.Code != code || uint64(info.Status()) != c.signal {
				t.Errorf("case %d: status %#x, code %d, %d", i, status, info.Code, info.Status())
			}
			if c.limit == 4096 && len(coreFile(t, "/cores/core")) != 4096 {
				t.Errorf("case %d: the file is longer than the limit", i)
			}
			if i < 7 && exists("/cores/core") != c.dumped {
				t.Errorf("case %d: the file is there: %v", i, !c.dumped)
			}
		}
		vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/cores/core/core")
		vfs.Root.RmdirAt(vfs.Root.RootPlace(), "/cores/core")
		want(t, p, "an invalid value", p.Call(nPrctl, abi.PR_SET_DUMPABLE, 2), errno(sys.EINVAL))
		want(t, p, "a child's is its own", p.Call(nPrctl, abi.PR_GET_DUMPABLE), 1)
	})
}

// TestCoreFileSays: which thread took the signal, and what memory was; memory that is to be left out is not there.
func TestCoreFileSays(t *testing.T) {
	const flags, page = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD, 4096
	run(t, func(p *player) {
		inFolder(t, p, "/says")
		var secret, pid int64
		status, _ := dies(t, p, abi.RLIM_INFINITY, abi.SIGABRT, func(c *player) {
			pid = c.Call(nGetpid)
			secret = c.Call(nMmap, 0, page, 3, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, minus, 0)
			c.Poke64(uint64(secret), 1)
			want(t, c, "madvise", c.Call(nMadvise, uint64(secret), page, abi.MADV_DONTDUMP), 0)
			for i := range uint64(3) {
				if tid := c.Fork(func(c *player) { c.Call(nPause) }, nClone, flags, proctest.StackTop-4096*(i+1), 0, 0, 0); tid < 0 {
					t.Errorf("clone: %d", tid)
				}
			}
		})
		if !status.Dumped() || status.Signal() != abi.SIGABRT {
			t.Errorf("status %#x", status)
		}
		b := coreFile(t, "/says/core")
		e, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Error(err)
			return
		}
		notes, _ := io.ReadAll(e.Progs[0].Open())
		if got := bytes.Count(notes, []byte("CORE\x00\x00\x00\x00\x06\x00\x00\x00")); got != 4+1 {
			t.Errorf("the states of %d threads and the signal", got)
		}
		if first := le32(notes[20+32:]); int64(first) != pid {
			t.Errorf("the first thread is %d, want %d", first, pid)
		}
		found := false
		for _, s := range e.Progs[1:] {
			if s.Vaddr <= scratch && scratch < s.Vaddr+s.Filesz {
				mark := make([]byte, 8)
				s.ReadAt(mark, int64(scratch-s.Vaddr))
				found = string(mark[:4]) == "kram"
			}
			if s.Vaddr == uint64(secret) && s.Filesz != 0 {
				t.Error("memory that is not to be dumped")
			}
		}
		if !found {
			t.Error("the program's memory is not in the file")
		}
		if i, err := vfs.Root.PlaceAt(vfs.Root.RootPlace(), "/says/core", true, false); err != nil || i.Node().Stat().Mode != 0600 {
			t.Errorf("mode %v, %v", i.Node().Stat().Mode, err)
		}
	})
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// TestCoreName: core_pattern names the file, which replaces one of that name and whatever a link leads to stays.
func TestCoreName(t *testing.T) {
	set := func(name, value string) error {
		v, _ := sysctl.Lookup(name)
		return v.Set(value)
	}
	defer set("kernel.core_pattern", "core")
	defer set("kernel.core_uses_pid", "0")
	if err := set("kernel.core_pattern", "|/bin/handler %p"); !errors.Is(err, sys.EINVAL) || !strings.Contains(err.Error(), "starts none") {
		t.Errorf("a program: %v", err)
	}
	run(t, func(p *player) {
		inFolder(t, p, "/names")
		for _, c := range []struct{ pattern, pids, want string }{
			{"/names/%e-%s-%u%g%%.%h", "0", "/names/test-6-00%.sonde"},
			{"it", "0", "/names/it"},
			{"it", "1", "/names/it.PID"},
			{"%p.it", "1", "/names/PID.it"},
			{"x%i-%P", "0", "/names/xPID-PID"},
		} {
			set("kernel.core_pattern", c.pattern)
			set("kernel.core_uses_pid", c.pids)
			var pid int64
			status, _ := dies(t, p, abi.RLIM_INFINITY, abi.SIGABRT, func(c *player) { pid = c.Call(nGetpid) })
			name := strings.ReplaceAll(c.want, "PID", strconv.FormatInt(pid, 10))
			if !status.Dumped() || !exists(name) {
				t.Errorf("%q: status %#x, %s is not there", c.pattern, status, name)
			}
		}
		set("kernel.core_uses_pid", "0")
		set("kernel.core_pattern", "link")
		root := vfs.Root.RootPlace()
		vfs.Root.SymlinkAt("it", root, "/names/link")
		before := coreFile(t, "/names/it")
		status, _ := dies(t, p, abi.RLIM_INFINITY, abi.SIGSEGV, nil)
		if after := coreFile(t, "/names/it"); !status.Dumped() || !bytes.Equal(before, after) {
			t.Errorf("status %#x; the file that a link leads to has changed", status)
		}
		set("kernel.core_pattern", "/nowhere/core")
		if status, _ := dies(t, p, abi.RLIM_INFINITY, abi.SIGSEGV, nil); status != abi.SIGSEGV {
			t.Errorf("no folder: status %#x", status)
		}
		if log := strings.Join(p.World.Log(), "\n"); !strings.Contains(log, "no core file of test[") || !strings.Contains(log, "/nowhere/core") {
			t.Errorf("the log says %q", log)
		}
	})
}
