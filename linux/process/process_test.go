package process

import (
	"os"
	"regexp"
	"strings"
	sys "syscall"
	"testing"
	"time"

	"sonde/internal/quick"
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	"sonde/linux/syscall"
)

const (
	nRead, nWrite, nOpen, nClose, nPipe, nFork, nWait4 = 0, 1, 2, 3, 22, 57, 61
	nReadlink, nExitGroup, nChdir                      = 89, 231, 80

	scratch = proctest.Data + 0x1000
	path    = proctest.Data + 0x2000
	most    = 0x1000
)

// run runs a program, the second process, with /proc.
func run(t *testing.T, f proctest.Program) {
	t.Helper()
	w := proctest.NewWorld(64<<20, syscall.Handle)
	if err := vfs.Root.MkdirAll("/proc", 0555); err != nil {
		t.Fatal(err)
	}
	if err := Mount(vfs.Root, w.Table); err != nil {
		t.Fatal(err)
	}
	img, err := w.Image("test", f)
	if err != nil {
		t.Fatal(err)
	}
	img.Exe = "/proc/cmdfile"
	img.Space.CopyOut(proctest.Data, []byte("test\x00-v\x00A=1\x00B=2\x00"))
	img.Layout = space.Layout{CodeStart: 1000, CodeEnd: 1001, StackStart: 1002, ArgStart: proctest.Data, ArgEnd: proctest.Data + 8,
		EnvStart: proctest.Data + 8, EnvEnd: proctest.Data + 16, Auxv: []byte("auxv")}
	files, err := syscall.NewFiles(vfs.Root.RootPlace())
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Table.Start(proc.Spec{Image: img, Resources: files})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(quick.Hang):
		t.Fatal("the program does not end")
	}
	if s := p.Status(); s != 0 {
		t.Errorf("status %#x", s)
	}
	if text, err := vfs.Root.ReadFile("proc/2/comm"); err != nil || string(text) != "test\n" {
		t.Errorf("a zombie's comm: %q, %v", text, err)
	}
	if link, err := vfs.Root.ReadlinkAt(vfs.Root.RootPlace(), "/proc/2/cwd"); err == nil {
		t.Errorf("a zombie is in %q", link)
	}
	w.Table.Init().Wait(proc.Which{Kind: abi.P_PID, ID: p.PID}, abi.WEXITED, func() <-chan struct{} { return nil })
	if _, err := vfs.Root.ReadFile("proc/2/comm"); err == nil {
		t.Error("/proc/2 is there when the process is gone")
	}
}

func openAs(p *proctest.Player, name string, flags uint64) int64 {
	p.Poke(path, append([]byte(name), 0))
	return p.Call(nOpen, path, flags, 0)
}

// text reads a file; an error is its number.
func text(p *proctest.Player, name string) string {
	fd := openAs(p, name, abi.O_RDONLY)
	if fd < 0 {
		return sys.Errno(-fd).Error()
	}
	n := p.Call(nRead, uint64(fd), scratch, most)
	p.Call(nClose, uint64(fd))
	if n < 0 {
		return sys.Errno(-n).Error()
	}
	return string(p.Peek(scratch, int(n)))
}

func readlink(p *proctest.Player, name string) string {
	p.Poke(path, append([]byte(name), 0))
	n := p.Call(nReadlink, path, scratch, most)
	if n < 0 {
		return sys.Errno(-n).Error()
	}
	return string(p.Peek(scratch, int(n)))
}

// TestMagicLinks: a walk can be kept from following the links of /proc/PID.
func TestMagicLinks(t *testing.T) {
	run(t, func(p *proctest.Player) {
		fd := openAs(p, "/proc/self/cwd", abi.O_RDONLY)
		if fd < 0 {
			t.Errorf("/proc/self/cwd: %d", fd)
		}
		for _, name := range []string{"cwd", "root", "fd/0"} {
			const nOpenat2, noMagic = 437, vfs.ResolveNoMagicLinks
			p.Poke(path, append([]byte("/proc/self/"+name), 0))
			p.Poke(scratch, make([]byte, 24))
			p.Poke(scratch+16, []byte{noMagic})
			if r := p.Call(nOpenat2, 0, path, scratch, 24); r != -int64(sys.ELOOP) {
				t.Errorf("%s: %d", name, r)
			}
		}
	})
}

// TestCommandLine: it is what is in the program's memory, where it can write a longer text.
func TestCommandLine(t *testing.T) {
	run(t, func(p *proctest.Player) {
		for written, want := range map[string]string{"none\x00-q\x00": "none\x00-q\x00", "a title": "a title\x00", "a longer one": "a longer one"} {
			p.Poke(proctest.Data, append([]byte(written), 0))
			if got := text(p, "/proc/self/cmdline"); got != want {
				t.Errorf("%q: %q", written, got)
			}
		}
	})
}

func TestFilesOfAProcess(t *testing.T) {
	run(t, func(p *proctest.Player) {
		for name, want := range map[string]string{
			"self/comm":    `^test\n$`,
			"2/cmdline":    `^test\x00-v\x00$`,
			"self/environ": "^A=1\x00B=2\x00$",
			"self/auxv":    `^auxv$`,
			"self/maps":    `(?m)^00600000-00610000 rw-p 00000000 00:00 0 \n(?s:.*)\nffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  \[vsyscall\]\n$`,
			"self/stat":    `^2 \(test\) R 1 \d+ 1( -?\d+){19} 1000 1001 1002 0 0( \d+){17} 6291456 6291464 6291464 6291472 0\n$`,
			"self/statm":   `^32 \d+ 0 0 0 32 0\n$`,
			"self/status":  `(?s)^Name:\ttest\nState:\tR \(running\)\nTgid:\t2\nPid:\t2\nPPid:\t1\n.*VmSize:\t     128 kB\nVmLck:\t       0 kB\n.*Threads:\t1\n`,
			"self/nothing": `^no such file`,
			"self/mounts":  `(?m)^tmpfs / tmpfs rw,relatime,size=\d+k 0 0\nproc /proc proc rw,relatime 0 0$`,

			"self/mountinfo": `(?s)^1 1 0:1 / / rw,relatime - tmpfs tmpfs rw,size=\d+k\n2 1 0:2 / /proc rw,relatime - proc proc rw\n3 1 .*\n4 3 0:4 / /sys/fs/bpf .*\n5 3 0:5 / /sys/kernel/debug `,

			"self/task/2/stat":   `^2 \(test\) R 1 \d+ 1( -?\d+){19} 1000 `,
			"self/task/2/status": `(?s)^Name:\ttest\n.*Tgid:\t2\nPid:\t2\n`,
			"self/task/2/comm":   `^test\n$`,
			"self/task/3/stat":   `^no such file`,
			"self/task/02/stat":  `^no such file`,
			"9/comm":             `^no such file`,
			"02/comm":            `^no such file`,
			"3/comm":             `^no such file`,
		} {
			if got := text(p, "/proc/"+name); !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("%s: %q does not match %s", name, got, want)
			}
		}
		for name, want := range map[string]string{"self": "2", "self/exe": "/proc/cmdfile", "self/cwd": "/", "self/root": "/", "self/fd/0": "no such file or directory"} {
			if got := readlink(p, "/proc/"+name); got != want {
				t.Errorf("%s leads to %q, want %q", name, got, want)
			}
		}
	})
	if _, err := vfs.Root.ReadFile("proc/self/comm"); err == nil {
		t.Error("the kernel has a /proc/self")
	}
}

// TestSelfIsWhoAsks: a child has its own, although it has its parent's directory.
func TestSelfIsWhoAsks(t *testing.T) {
	run(t, func(p *proctest.Player) {
		p.Poke(path, []byte("/proc/self\x00"))
		if r := p.Call(nChdir, path); r != 0 {
			t.Errorf("chdir: %d", r)
		}
		p.Fork(func(c *proctest.Player) {
			if got := readlink(c, "/proc/self") + readlink(c, "../self"); got != "33" {
				t.Errorf("self of 3: %q", got)
			}
			if got := text(c, "stat"); !strings.HasPrefix(got, "2 ") {
				t.Errorf("its directory is the parent's folder: %q", got)
			}
			c.Call(nExitGroup, 0)
		}, nFork)
		p.Call(nWait4, ^uint64(0), 0, 0, 0)
	})
}

// TestThreads: each has a folder, with its own number and what it does.
func TestThreads(t *testing.T) {
	const nClone, nPause, flags = 56, 34, abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD | abi.CLONE_FILES | abi.CLONE_FS
	run(t, func(p *proctest.Player) {
		p.Fork(func(c *proctest.Player) { c.Call(nPause) }, nClone, flags, proctest.StackTop-0x8000)
		for end := time.Now().Add(quick.Hang); !strings.HasPrefix(text(p, "/proc/self/task/3/stat"), "3 (test) S 1 ") && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if got := text(p, "/proc/2/task/3/status"); !regexp.MustCompile(`(?s)^Name:\ttest\nState:\tS \(sleeping\)\nTgid:\t2\nPid:\t3\n.*Threads:\t2\n`).MatchString(got) {
			t.Errorf("%q", got)
		}
		if got := text(p, "/proc/2/task/2/stat"); !strings.HasPrefix(got, "2 (test) R ") {
			t.Errorf("%q", got)
		}
		names := []string{}
		if all, err := vfs.Root.ReadDir("proc/2/task"); err == nil {
			for _, e := range all {
				names = append(names, e.Name())
			}
		}
		if strings.Join(names, " ") != "2 3" {
			t.Errorf("threads %v", names)
		}
	})
}

// TestStateIsTheFirstThreads: that of a process is what its first thread does, whatever
// others do, and it is a zombie's when that has ended before them.
func TestStateIsTheFirstThreads(t *testing.T) {
	const nClone, nPause, nExit, flags = 56, 34, 60, abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD | abi.CLONE_FILES | abi.CLONE_FS
	becomes := func(c *proctest.Player, file, start string) {
		got := ""
		for end := time.Now().Add(quick.Hang); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if got = text(c, file); strings.HasPrefix(got, start) {
				return
			}
		}
		t.Errorf("%s: %q, want %q", file, got, start)
	}
	for state, last := range map[string]uint64{"S": nPause, "Z": nExit} {
		run(t, func(p *proctest.Player) {
			p.Fork(func(c *proctest.Player) {
				becomes(c, "/proc/2/stat", "2 (test) "+state+" ")
				becomes(c, "/proc/2/task/3/stat", "3 (test) R ")
				becomes(c, "/proc/2/status", "Name:\ttest\nState:\t"+state+" (")
				c.Call(nExitGroup, 0)
			}, nClone, flags, proctest.StackTop-0x8000)
			p.Call(last)
		})
	}
}

// TestPipeByName opens the ends of a pipe anew, as bash's <(...) does.
func TestPipeByName(t *testing.T) {
	run(t, func(p *proctest.Player) {
		p.Call(nPipe, scratch)
		if got := readlink(p, "/proc/self/fd/0"); !regexp.MustCompile(`^pipe:\[\d+\]$`).MatchString(got) {
			t.Errorf("the pipe is %q", got)
		}
		w := openAs(p, "/proc/self/fd/0", abi.O_WRONLY)
		p.Call(nClose, 1) // the first writing end
		p.Poke(scratch, []byte("text"))
		if n := p.Call(nWrite, uint64(w), scratch, 4); n != 4 {
			t.Errorf("write: %d", n)
		}
		if got := text(p, "/proc/self/fd/0"); got != "text" {
			t.Errorf("read %q", got)
		}
		if n := p.Call(nWrite, uint64(w), scratch, 4); n != 4 {
			t.Errorf("a reading end was closed, and write: %d", n)
		}
		p.Call(nClose, uint64(w))
		if got := text(p, "/proc/self/fd/0"); got != "text" {
			t.Errorf("read %q", got)
		}
		if got := text(p, "/proc/self/fd/0"); got != "" {
			t.Errorf("no writer is left, but read %q", got)
		}
		if got := openAs(p, "/proc/self/fd/0", abi.O_RDWR); got < 0 {
			t.Errorf("both ends in one: %d", got)
		}
		if got := text(p, "/proc/self/fd/0/x"); got != "not a directory" {
			t.Errorf("below a pipe: %q", got)
		}
	})
}

// TestRemovedFileByName: its descriptor leads to a file that has no name any more.
func TestRemovedFileByName(t *testing.T) {
	run(t, func(p *proctest.Player) {
		f, err := vfs.Root.OpenFile("/file", os.O_CREATE|os.O_RDWR)
		if err != nil {
			t.Error(err)
			return
		}
		vfs.Write(f, []byte("contents"), nil)
		vfs.Close(f)
		fd := openAs(p, "/file", abi.O_RDONLY)
		vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/file")
		if got := text(p, "/proc/self/fd/0"); fd != 0 || got != "contents" {
			t.Errorf("descriptor %d: %q", fd, got)
		}
		if got := readlink(p, "/proc/self/fd/0"); got != "/file (deleted)" {
			t.Errorf("it is %q", got)
		}
	})
}

// TestSlackOfAProcess: /proc/PID/timerslack_ns refuses what is no number and keeps what was.
func TestSlackOfAProcess(t *testing.T) {
	const name = "/proc/self/timerslack_ns"
	run(t, func(p *proctest.Player) {
		write := func(s string) int64 {
			fd := openAs(p, name, abi.O_WRONLY)
			p.Poke(scratch, []byte(s))
			defer p.Call(nClose, uint64(fd))
			return p.Call(nWrite, uint64(fd), scratch, uint64(len(s)))
		}
		for _, step := range []struct {
			write string
			n     int64
			then  string
		}{
			{"123", 3, "123\n"},
			{"abc", -int64(sys.EINVAL), "123\n"},
			{"-1", -int64(sys.EINVAL), "123\n"},
			{" 7", -int64(sys.EINVAL), "123\n"},
			{"0x10", -int64(sys.EINVAL), "123\n"},
			{"99999999999999999999999", -int64(sys.ERANGE), "123\n"},
			{"+6\n", 3, "6\n"},
			{"0", 1, "50000\n"},
			{"18446744073709551615", 20, "18446744073709551615\n"},
		} {
			if n := write(step.write); n != step.n {
				t.Errorf("writing %q: %d, want %d", step.write, n, step.n)
			}
			if got := text(p, name); got != step.then {
				t.Errorf("after %q it holds %q, want %q", step.write, got, step.then)
			}
		}
		if got := text(p, "/proc/self/task/2/timerslack_ns"); got != sys.ENOENT.Error() {
			t.Errorf("a thread's folder: %q", got)
		}
	})
}

// TestTheKernelIsProcessOne: it sleeps, has no parent, and no memory of its own.
func TestTheKernelIsProcessOne(t *testing.T) {
	run(t, func(p *proctest.Player) {
		if got := text(p, "/proc/1/comm"); got != "sonde\n" {
			t.Errorf("comm is %q", got)
		}
		if got := text(p, "/proc/1/stat"); !strings.HasPrefix(got, "1 (sonde) S 0 1 1 ") {
			t.Errorf("stat is %q", got)
		}
		if got := text(p, "/proc/1/maps") + text(p, "/proc/1/cmdline") + text(p, "/proc/1/environ"); got != "" {
			t.Errorf("it has %q", got)
		}
		if got := text(p, "/proc/1/status"); !strings.Contains(got, "PPid:\t0\n") {
			t.Errorf("status is %q", got)
		}
	})
}

// TestMemoryByAddress: a byte's offset in /proc/PID/mem is its address.
func TestMemoryByAddress(t *testing.T) {
	const nPread, nPwrite = 17, 18
	run(t, func(p *proctest.Player) {
		p.PokeString(path, "/proc/self/mem")
		fd := uint64(p.Call(nOpen, path, abi.O_RDWR))
		p.Poke64(scratch, 0x1122334455667788)
		if n := p.Call(nPread, fd, scratch+0x100, 8, scratch); n != 8 || p.Peek64(scratch+0x100) != 0x1122334455667788 {
			t.Errorf("%d bytes read: %#x", n, p.Peek64(scratch+0x100))
		}
		if n := p.Call(nPwrite, fd, scratch, 8, scratch+0x200); n != 8 || p.Peek64(scratch+0x200) != 0x1122334455667788 {
			t.Errorf("%d bytes written", n)
		}
		if n := p.Call(nPread, fd, scratch, 8, 0x1000); n != -int64(sys.EIO) {
			t.Errorf("where nothing is mapped: %d", n)
		}
	})
}
