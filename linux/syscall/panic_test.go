package syscall

import (
	"strings"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// broken is a file whose reading or closing panics.
type broken struct {
	vfs.Node
	inClose bool
}

func (b broken) Stat() vfs.Info                     { return vfs.Info{Mode: 0777} }
func (b broken) Open(int) (vfs.Handle, error)       { return b, nil }
func (b broken) WriteAt([]byte, int64) (int, error) { return 0, sys.EBADF }

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if len(p) != 8 {
		panic("a bug in reading")
	}
	return 7, nil
}

func (b broken) Close() error {
	if b.inClose {
		panic("a bug in closing")
	}
	return nil
}

func bindBroken(t *testing.T, path string, b broken) {
	t.Helper()
	if err := vfs.Root.Bind(path, b); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vfs.Root.Unbind(path) })
}

func openPath(p *player, path string, flags uint64) uint64 {
	p.PokeString(pathAddr, path)
	return uint64(p.Call(nOpen, pathAddr, flags, 0))
}

// killedByBug waits for a child that a bug has killed.
func killedByBug(t *testing.T, p *player, pid int64) {
	t.Helper()
	want(t, p, "wait4", p.Call(nWait4, uint64(pid), scratch, 0, 0), pid)
	want(t, p, "status", int64(p.Peek32(scratch)), abi.SIGKILL)
}

// TestPanicLeavesTheFileUsable: a panic with a locked file position killed the program, and every
// later user of the file waited for ever.
func TestPanicLeavesTheFileUsable(t *testing.T) {
	bindBroken(t, "/broken", broken{})
	w := world(t)
	opened := vfs.Opened()
	finish(t, w, begin(t, w, func(p *player) {
		fd := openPath(p, "/broken", abi.O_RDONLY)
		pid := p.Fork(func(c *player) { c.Call(nRead, fd, scratch, 1) }, nFork)
		killedByBug(t, p, pid)
		want(t, p, "read", p.Call(nRead, fd, scratch, 8), 7)
		want(t, p, "seek", p.Call(nLseek, fd, 0, 1), 7)
	}))
	if n := vfs.Opened(); n != opened {
		t.Errorf("%d files are open, %d were before", n, opened)
	}
	if log := strings.Join(w.Log(), "\n"); !strings.Contains(log, "BUG: a bug in reading in call 0 of test[3]") {
		t.Error(log)
	}
}

// TestPanicAtTheEnd: a process whose files cannot be closed ends nevertheless, and its other files
// are closed.
func TestPanicAtTheEnd(t *testing.T) {
	bindBroken(t, "/broken", broken{inClose: true})
	w := world(t)
	opened := vfs.Opened()
	finish(t, w, begin(t, w, func(p *player) {
		p.Call(nPipe, scratch)
		out := uint64(p.Peek32(scratch + 4))
		pid := p.Fork(func(c *player) {
			openPath(c, "/broken", abi.O_RDONLY)
			c.Call(nPipe, scratch)
			c.Call(nExitGroup, 5)
		}, nFork)
		want(t, p, "wait4", p.Call(nWait4, uint64(pid), scratch, 0, 0), pid)
		want(t, p, "status", int64(p.Peek32(scratch)), 5<<8)
		p.Call(nClose, out)
		want(t, p, "the child's end of the pipe is closed", p.Call(nRead, 0, scratch, 8), 0)
	}))
	if n := vfs.Opened(); n != opened {
		t.Errorf("%d files are open, %d were before", n, opened)
	}
	if log := strings.Join(w.Log(), "\n"); !strings.Contains(log, "BUG: a bug in closing in the end of test[3]: files") {
		t.Error(log)
	}
}

// TestPanicOfAnEngine: a child is in the table before engines are told about it. If one of them
// panics, the parent is killed, and the child runs and can be waited for.
func TestPanicOfAnEngine(t *testing.T) {
	w := world(t)
	ran := make(chan bool, 1)
	finish(t, w, begin(t, w, func(p *player) {
		pid := p.Fork(func(c *player) {
			attach(w, 3, &proc.Engine{Clone: func(*proc.Thread, *proc.Thread, uint64) { panic("a bug in an engine") }})
			c.Fork(func(*player) { ran <- true }, nFork)
		}, nFork)
		killedByBug(t, p, pid)
	}))
	<-ran
	for n := 1; n > 0; n, _, _ = w.Table.Counts() {
		time.Sleep(time.Millisecond)
	}
}

func attach(w *proctest.World, pid int, e *proc.Engine) {
	p, err := w.Table.Find(pid)
	if err != nil {
		panic(err)
	}
	p.Attach(e)
}

// TestPanicInExec: if a bug kills a program while it loads or starts another one, neither the old
// memory nor the new is left over.
func TestPanicInExec(t *testing.T) {
	bindBroken(t, "/broken", broken{})
	for path, wantLog := range map[string]string{"/broken": "BUG: a bug in reading", "/bin/next": "BUG: a bug in an engine"} {
		w := world(t)
		provide(t, w, "/bin/next", func(*player) {})
		if path == "/broken" {
			SetLoader(ELF(w.Machine, nil))
		}
		finish(t, w, begin(t, w, func(p *player) {
			pid := p.Fork(func(c *player) {
				attach(w, 3, &proc.Engine{Exec: func(*proc.Thread) { panic("a bug in an engine") }})
				c.PokeString(pathAddr, path)
				c.Call(nExecve, pathAddr, 0, 0)
			}, nFork)
			killedByBug(t, p, pid)
		}))
		if log := strings.Join(w.Log(), "\n"); !strings.Contains(log, wantLog) {
			t.Errorf("%s: %s", path, log)
		}
		vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/bin/next")
	}
}

// TestDescriptorsDuringExec: exec of a process that shares its descriptors replaces the table while
// /proc reads it; the race detector checks that.
func TestDescriptorsDuringExec(t *testing.T) {
	w := world(t)
	provide(t, w, "/bin/next", func(*player) {})
	looked := make(chan bool)
	finish(t, w, begin(t, w, func(p *player) {
		pid := p.Fork(func(c *player) {
			process, _ := w.Table.Find(3)
			go func() {
				for {
					select {
					case <-process.Done():
						close(looked)
						return
					default:
						process.Resources().(*Files).Descriptors().Open()
					}
				}
			}()
			c.PokeString(pathAddr, "/bin/next")
			c.Call(nExecve, pathAddr, 0, 0)
		}, nClone, abi.CLONE_FILES|abi.SIGCHLD)
		want(t, p, "wait4", p.Call(nWait4, uint64(pid), 0, 0, 0), pid)
	}))
	<-looked
}
