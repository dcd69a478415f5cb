package strace

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/internal/quick"
	"sonde/kallsyms"
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/syscall"
)

// TestTimes: -T says how long calls take, and a stamp when lines begin; that of -r, how long after the line before.
func TestTimes(t *testing.T) {
	got, _ := trace(t, Options{Took: true, Stamp: func(time.Time) string { return "now" }}, func(p *proctest.Player) { p.Call(nGetpid) })
	for _, want := range []string{`(?m)^now getpid\(\) += \d+ <\d+\.\d{6}>$`, `(?m)^now exit_group\(0\) += \?$`, `(?m)^now \+\+\+ exited`} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	since, began := Since(), time.Now()
	if first, second := since(began), since(began.Add(1500*time.Millisecond)); first != "     0.000000" || second != "     1.500000" {
		t.Errorf("%q, %q", first, second)
	}
}

// Numbers of calls.
const (
	nRead, nWrite, nClose, nMmap, nSigaction, nPause = 0, 1, 3, 9, 13, 34
	nGetpid, nClone, nFork, nExit, nWait4, nKill     = 39, 56, 57, 60, 61, 62
	nUname, nFcntl, nExitGroup, nFutex, nOpenat      = 63, 72, 231, 202, 257
	nNewfstatat, nPipe2, nPrlimit, nUmask            = 262, 293, 302, 95
)

const at = proctest.Data

// lines is an io.Writer for several goroutines.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// trace runs a program and returns what is printed about it.
func trace(t *testing.T, o Options, f proctest.Program) (string, *Tracer) {
	t.Helper()
	w := proctest.NewWorld(64<<20, syscall.Handle)
	img, err := w.Image("test", f)
	if err != nil {
		t.Fatal(err)
	}
	n := vfs.NewAnonymous(fs.ModeCharDevice | fs.ModeDevice | 0666)
	null := vfs.NewFile("null", n, &sink{}, vfs.O_RDWR)
	files, err := syscall.NewFiles(vfs.Root.RootPlace(), null)
	if err != nil {
		t.Fatal(err)
	}
	out := new(lines)
	tracer := New(out, o)
	p, err := w.Table.Start(proc.Spec{Image: img, Resources: files, Ready: tracer.Attach})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(quick.Hang):
		t.Fatal("the program does not end")
	}
	tracer.Detach()
	return out.String(), tracer
}

// sink takes what is written to it, and gives a short text.
type sink struct{ vfs.Stream }

func (*sink) ReadAt(p []byte, _ int64) (int, error)  { return copy(p, "some text\n"), nil }
func (*sink) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (*sink) Close() error                           { return nil }

func TestLinesAreThoseOfStrace(t *testing.T) {
	defer vfs.Root.Remove("/nothing")
	got, _ := trace(t, Options{}, func(p *proctest.Player) {
		p.PokeString(at, "/nothing")
		p.Call(nOpenat, uint64(1<<64-100), at, abi.O_RDONLY|abi.O_CLOEXEC)
		p.Call(nOpenat, uint64(1<<64-100), at, abi.O_RDWR|abi.O_CREAT|abi.O_EXCL, 0644)
		p.Call(nNewfstatat, 1, at+8, at+0x100, abi.AT_EMPTY_PATH)
		p.Call(nFcntl, 1, abi.F_GETFD)
		p.Call(nFcntl, 1, abi.F_SETFD, 1)
		p.Call(nClose, 1)
		p.Call(nClose, 1)
		p.PokeString(at, strings.Repeat("0123456789", 5)+"\n")
		p.Call(nWrite, 0, at, 6)
		p.Call(nWrite, 0, at, 51)
		p.Call(nWrite, 0, 8, 6)
		p.Call(nRead, 0, at, 100)
		p.Call(nRead, 9, at, 100)
		p.Call(nMmap, 0, 8192, 3, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, 1<<32-1, 0)
		p.Poke(at, abi.Bytes(&abi.Sigaction{Handler: abi.SIG_IGN, Flags: abi.SA_RESTART, Mask: 1<<1 | 1<<14}))
		p.Call(nSigaction, abi.SIGTERM, at, 0, 8)
		p.Call(nSigaction, abi.SIGTERM, 0, at, 8)
		p.Call(nPipe2, at, abi.O_CLOEXEC)
		p.Call(nPrlimit, 0, abi.RLIMIT_STACK, 0, at)
		p.Call(nUmask, 022)
		p.Call(nFutex, at, abi.FUTEX_WAKE|abi.FUTEX_PRIVATE_FLAG, 1)
		p.Call(nKill, 2, abi.SIGTERM)
		p.Call(246, 1, 2, 3, 4, 5, 6)
		p.Call(nExitGroup, 3)
	})
	got = regexp.MustCompile(`= 0x[0-9a-f]+\n`).ReplaceAllString(got, "= 0x1234\n")
	want := `openat(AT_FDCWD, "/nothing", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
openat(AT_FDCWD, "/nothing", O_RDWR|O_CREAT|O_EXCL, 0644) = 1
newfstatat(1, "", {st_mode=S_IFREG|0644, st_size=0, ...}, AT_EMPTY_PATH) = 0
fcntl(1, F_GETFD)                       = 0
fcntl(1, F_SETFD, 1)                    = 0
close(1)                                = 0
close(1)                                = -1 EBADF (Bad file descriptor)
write(0, "012345", 6)                   = 6
write(0, "01234567890123456789012345678901"..., 51) = 51
write(0, 0x8, 6)                        = -1 EFAULT (Bad address)
read(0, "some text\n", 100)             = 10
read(9, 0x600000, 100)                  = -1 EBADF (Bad file descriptor)
mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x1234
rt_sigaction(SIGTERM, {sa_handler=SIG_IGN, sa_mask=[INT TERM], sa_flags=SA_RESTART}, NULL, 8) = 0
rt_sigaction(SIGTERM, NULL, {sa_handler=SIG_IGN, sa_mask=[INT TERM], sa_flags=SA_RESTART}, 8) = 0
pipe2([1, 2], O_CLOEXEC)                = 0
prlimit64(0, RLIMIT_STACK, NULL, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}) = 0
umask(022)                              = 022
futex(0x600000, FUTEX_WAKE_PRIVATE, 1)  = 0
kill(2, SIGTERM)                        = 0
--- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=2, si_uid=0} ---
kexec_load(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) = -1 ENOSYS (Function not implemented)
exit_group(3)                           = ?
+++ exited with 3 +++
`
	compare(t, got, want)
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			t.Errorf("missing %q", w[i])
		case i >= len(w):
			t.Errorf("too much: %q", g[i])
		case g[i] != w[i]:
			t.Errorf("got  %s\nwant %s", g[i], w[i])
		}
	}
}

// forks makes a child that waits in pause until it is killed, and waits for it.
func forks(p *proctest.Player) {
	paused := make(chan struct{})
	pid := p.Fork(func(c *proctest.Player) {
		close(paused)
		c.Call(nPause)
	}, nFork)
	<-paused
	time.Sleep(50 * time.Millisecond) // to have it in pause most times
	p.Call(nKill, uint64(pid), abi.SIGTERM)
	for p.Call(nWait4, 1<<64-1, at, 0, 0) < 0 {
	}
}

func TestFollowsChildren(t *testing.T) {
	got, _ := trace(t, Options{Follow: true}, forks)
	for _, want := range []string{
		`(?m)^fork\( <unfinished \.\.\.>\nstrace: Process 3 attached$`,
		`(?m)^\[pid     2\] <\.\.\. fork resumed>\) += 3$`,
		`(?m)^\[pid     2\] kill\(3, SIGTERM\)`,
		`(?m)^\[pid     3\] --- SIGTERM \{si_signo=SIGTERM, si_code=SI_USER, si_pid=2, si_uid=0\} ---$`,
		`(?m)^\[pid     3\] \+\+\+ killed by SIGTERM \+\+\+$`,
		`(?m)^(\[pid     2\] wait4\(-1,  <unfinished \.\.\.>\n(\[pid.*\n)*<\.\.\. wait4 resumed>|(\[pid     2\] )?wait4\(-1, )\[\{WIFSIGNALED\(s\) && WTERMSIG\(s\) == SIGTERM\}\], 0, NULL\) = 3\n`,
		`(?m)^(\[pid     2\] )?--- SIGCHLD \{si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=3, si_uid=0, si_status=SIGTERM, si_utime=\d+, si_stime=\d+\} ---$`,
		`(?m)^\+\+\+ exited with 0 \+\+\+$`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestClone: by name, in strace's order, and only what the flags use.
func TestClone(t *testing.T) {
	got, _ := trace(t, Options{}, func(p *proctest.Player) {
		p.Fork(func(*proctest.Player) {}, nClone, abi.CLONE_CHILD_SETTID|abi.CLONE_CHILD_CLEARTID|abi.SIGCHLD, 0, 0, at)
		p.Fork(func(*proctest.Player) {}, nClone, abi.CLONE_PARENT_SETTID|abi.CLONE_SETTLS|abi.SIGCHLD, at+0x800, at+8, 0, 0x1000)
		p.Poke(at, abi.Bytes(&abi.CloneArgs{Flags: abi.CLONE_PARENT_SETTID, ParentTID: at + 0x200, ExitSignal: abi.SIGCHLD, Stack: at + 0x800, StackSize: 0x100}))
		p.Fork(func(*proctest.Player) {}, 435, at, 88)
		p.Call(nExitGroup, 3)
	})
	got = regexp.MustCompile(`--- SIGCHLD .*\n`).ReplaceAllString(got, "")
	compare(t, got, `clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x600000) = 3
clone(child_stack=0x600800, flags=CLONE_SETTLS|CLONE_PARENT_SETTID|SIGCHLD, parent_tid=[4], tls=0x1000) = 4
clone3({flags=CLONE_PARENT_SETTID, parent_tid=0x600200, exit_signal=SIGCHLD, stack=0x600800, stack_size=0x100} => {parent_tid=[5]}, 88) = 5
exit_group(3)                           = ?
+++ exited with 3 +++
`)
}

// TestOnlyTheCallsThatAreWanted: signals and the end are shown in any case.
func TestOnlyTheCallsThatAreWanted(t *testing.T) {
	got, _ := trace(t, Options{Wanted: func(name string) bool { return name == "getpid" }}, func(p *proctest.Player) {
		p.Call(nGetpid)
		p.Call(nUmask, 022)
	})
	compare(t, got, "getpid()                                = 2\n+++ exited with 0 +++\n")
}

func TestDoesNotFollowWithoutF(t *testing.T) {
	got, _ := trace(t, Options{}, forks)
	if strings.Contains(got, "[pid") || strings.Contains(got, "pause") || !strings.Contains(got, "--- SIGCHLD") {
		t.Error(got)
	}
}

// TestPaths: with -y, descriptors have the names of their files, also those that calls return; not that of what is closed.
func TestPaths(t *testing.T) {
	if err := vfs.WriteFile("/named", nil); err != nil {
		t.Fatal(err)
	}
	defer vfs.Root.Remove("/named")
	got, _ := trace(t, Options{Paths: true}, func(p *proctest.Player) {
		p.Poke(at, []byte("/named\x00"))
		cwd := abi.AT_FDCWD
		p.Call(nOpenat, uint64(cwd), at, 0)
		p.Call(nFcntl, 1, abi.F_DUPFD, 7)
		p.Call(nFcntl, 1, abi.F_GETFD)
		p.Call(nPipe2, at, 0)
		p.Call(nRead, 7, at, 0)
		p.Call(nClose, 1)
		p.Call(nClose, 1)
		p.Call(nOpenat, 77, at, 0)
	})
	for _, want := range []string{`openat(AT_FDCWD</>, "/named", O_RDONLY) = 1</named>`, `fcntl(1</named>, F_DUPFD, 7)            = 7</named>`, `fcntl(1</named>, F_GETFD)               = 0`,
		`read(7</named>, "", 0)`, `close(1</named>)`, `close(1)`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestStacks: with -k, the calls that led to a system call follow it.
func TestStacks(t *testing.T) {
	got, _ := trace(t, Options{Symbols: fakeNames{}}, func(p *proctest.Player) {
		p.Poke64(at, at+32)
		p.Poke64(at+8, 0x5011)
		p.Poke64(at+32, at) // below the one before: the last
		p.Poke64(at+40, 0x6011)
		p.Regs().BP = at
		p.Call(nGetpid)
	})
	want := regexp.MustCompile(`getpid\(\) += \d+\n > unexpected_backtracing_error\(\) \[0x[0-9a-f]+\]\n > /bin/x\(f\+0x11\) \[0x5011\]\n > x\.so\(\) \[0x6011\]\n\n`)
	if !want.MatchString(got) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

// fakeNames has a function at 0x5000, and what is no function at 0x6000.
type fakeNames struct{}

func (fakeNames) Name(addr uint64, pid int) (kallsyms.Named, bool) {
	switch addr &^ 0xfff {
	case 0x5000:
		return kallsyms.Named{Name: "f", Offset: addr - 0x5000, File: "/bin/x", Function: true}, pid > 0
	case 0x6000:
		return kallsyms.Named{Name: "x.so", Offset: addr - 0x6000}, true
	}
	return kallsyms.Named{}, false
}

func TestCounts(t *testing.T) {
	got, tracer := trace(t, Options{Count: true}, func(p *proctest.Player) {
		for range 3 {
			p.Call(nGetpid)
		}
		p.Call(nClose, 77)
	})
	if got != "" {
		t.Errorf("printed %q", got)
	}
	var b strings.Builder
	tracer.WriteTable(&b)
	for _, want := range []string{
		`^% time     seconds  usecs/call     calls    errors syscall\n------ `,
		`(?m)^ *[\d.]+ +\d\.\d{6} +\d+         3           getpid$`,
		`(?m)^ *[\d.]+ +\d\.\d{6} +\d+         1         1 close$`,
		`(?m)^100\.00 +\d\.\d{6} +\d+         5         1 total$`,
	} {
		if !regexp.MustCompile(want).MatchString(b.String()) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

// TestSignalsOfMemory shows what a program does that uses a bad address.
func TestSignalsOfMemory(t *testing.T) {
	got, _ := trace(t, Options{}, func(p *proctest.Player) { p.Fault(14, 4, 0x10) })
	compare(t, got, fmt.Sprint("--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x10} ---\n", "+++ killed by SIGSEGV +++\n"))
}
