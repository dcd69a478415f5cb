package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/space"
)

const nSetrlimit, nChmod, nFchmod, nFsync = 160, 90, 91, 74

// TestFileLimit: RLIMIT_FSIZE used to do nothing. refusals.c has each call's errors.
func TestFileLimit(t *testing.T) {
	run(t, func(p *player) {
		signals := 0
		action(p, abi.SIGXFSZ, func(*player, uint64, uint64, uint64) { signals++ }, 0, 0)
		p.Poke64(scratch, 50)
		p.Poke64(scratch+8, minus)
		want(t, p, "setrlimit", p.Call(nSetrlimit, abi.RLIMIT_FSIZE, scratch), 0)
		p.Fork(func(c *player) { // the child inherits its parent's limit
			f := openNew(c, "/limited", abi.O_RDWR|abi.O_APPEND)
			want(t, c, "write", c.Call(nWrite, f, scratch, 40), 40)
			want(t, c, "a part", c.Call(nWrite, f, scratch, 40), 10)
			want(t, c, "nothing", c.Call(nWrite, f, scratch, 40), errno(sys.EFBIG))
			want(t, c, "pwrite", c.Call(nPwrite, f, scratch, 1, 0), errno(sys.EFBIG))
			want(t, c, "ftruncate", c.Call(nFtruncate, f, 51), errno(sys.EFBIG))
			want(t, c, "shorter", c.Call(nFtruncate, f, 10), 0)
			want(t, c, "signals", int64(signals), 3)
			c.Call(nPipe, scratch)
			want(t, c, "a pipe", c.Call(nWrite, uint64(c.Peek32(scratch+4)), scratch, 100), 100)
		}, nFork)
		want(t, p, "wait4", p.Call(nWait4, minus, scratch, 0, 0), 3)
		want(t, p, "status", int64(p.Peek32(scratch)), 0)
	})
}

// TestTextIsNotWritten: nobody may write to a program's file from its loading to the end of the
// last process that runs it, also a forked one; and a file that is open for writing is not loaded.
func TestTextIsNotWritten(t *testing.T) {
	root := vfs.Root.RootPlace()
	open := func(flag int) (*vfs.File, error) { return vfs.OpenAt(root, "/text", flag, 0o755) }
	f, err := open(vfs.O_CREAT | vfs.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vfs.Root.UnlinkAt(root, "/text") })
	m := world(t).Machine
	s, err := m.New()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Runs(f.Text()); errnoOf(err) != sys.ETXTBSY {
		t.Errorf("open for writing: %v", err)
	}
	vfs.Close(f)
	if err := s.Runs(f.Text()); err != nil {
		t.Error(err)
	}
	child, err := s.Fork()
	if err != nil {
		t.Fatal(err)
	}
	busy := func(when string, want error) {
		t.Helper()
		for _, flag := range []int{vfs.O_WRONLY, vfs.O_RDWR, vfs.O_TRUNC} {
			f, err := open(flag)
			if err == nil {
				vfs.Close(f)
			}
			if want == nil && err != nil || want != nil && errnoOf(err) != want {
				t.Errorf("%s: open with %#x: %v", when, flag, err)
			}
		}
		if err := vfs.Root.TruncateAt(root, "/text", 0); want == nil && err != nil || want != nil && errnoOf(err) != want {
			t.Errorf("%s: truncate: %v", when, err)
		}
	}
	busy("both run", sys.ETXTBSY)
	s.Release()
	busy("the child runs", sys.ETXTBSY)
	child.Release()
	busy("none runs", nil)
}

// TestExecOfAFileThatIsWritten: ETXTBSY; after an error nothing stays protected.
func TestExecOfAFileThatIsWritten(t *testing.T) {
	root := vfs.Root.RootPlace()
	if err := vfs.WriteFile("/script", []byte("#!/absent\n")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vfs.Root.UnlinkAt(root, "/script") })
	vfs.Root.ChangeAt("chmod", root, "/script", true, func(c vfs.Changer) { c.SetMode(0o755) })
	w := world(t)
	SetLoader(ELF(w.Machine, nil))
	s := finish(t, w, begin(t, w, func(p *player) {
		p.PokeString(pathAddr, "/script")
		f := uint64(p.Call(nOpen, pathAddr, abi.O_RDWR, 0))
		want(t, p, "it is written", p.Call(nExecve, pathAddr, 0, 0), errno(sys.ETXTBSY))
		p.Call(nClose, f)
		want(t, p, "no interpreter", p.Call(nExecve, pathAddr, 0, 0), errno(sys.ENOENT))
		want(t, p, "open", p.Call(nOpen, pathAddr, abi.O_RDWR, 0), int64(f))
	}))
	if s != proc.Exited(0) {
		t.Errorf("status %#x", s)
	}
}

func TestDescriptorOfAPlaceChangesNothing(t *testing.T) {
	run(t, func(p *player) {
		p.PokeString(pathAddr, "/")
		f := uint64(p.Call(nOpen, pathAddr, abi.O_PATH))
		for _, call := range [][]uint64{{nFchmod, f, 0o700}, {nFtruncate, f, 0}, {nFsync, f}, {nGetdents, f, scratch, 100}, {nFlock, f, 2}, {nIoctl, f, abi.FIONREAD, scratch}} {
			want(t, p, "call", p.Call(call[0], call[1:]...), errno(sys.EBADF))
		}
		want(t, p, "fstat", p.Call(nFstat, f, scratch), 0)
	})
}

// TestBehindTheEndIsNothing: bytes that a program writes to a mapped page after the end of the
// file are not in the file when it grows.
func TestBehindTheEndIsNothing(t *testing.T) {
	runMapped(t, func(p *player) {
		f := openNew(p, "/end", abi.O_RDWR)
		const page = space.PageSize
		grow := map[string]func(){
			"ftruncate": func() { p.Call(nFtruncate, f, page) },
			"pwrite":    func() { p.Call(nPwrite, f, scratch, 1, 500) },
			"fallocate": func() { p.Call(nFallocate, f, 0, 0, page) },
		}
		for how, longer := range grow {
			p.Call(nFtruncate, f, 100)
			at := uint64(p.Call(nMmap, 0, page, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_SHARED, f, 0))
			p.Poke(at+200, []byte{7})
			longer()
			p.Poke(scratch, []byte{9})
			want(t, p, "pread", p.Call(nPread, f, scratch, 1, 200), 1)
			if p.Peek(scratch, 1)[0] != 0 || p.Peek(at+200, 1)[0] != 0 {
				t.Errorf("%s: what was behind the end is in the file", how)
			}
			p.Call(nMunmap, at, page)
		}
	})
}
