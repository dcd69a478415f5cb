package uprobes

import (
	"bytes"
	"testing"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/mm/frame"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	syscalls "sonde/linux/syscall"
)

// What the doc comment of Uprobe promises of probes on a file: they are where the file can be
// executed, now and later, and nowhere else.

const (
	nOpen, nMmap, nMprotect, nMunmap, nMremap, nGetpid = 2, 9, 10, 11, 25, 39

	libAt  = 0x900000
	offset = 0x20
	exec   = abi.PROT_READ | abi.PROT_EXEC
)

// withFile plays a program and a file of two pages of NOPs, which u is registered for. f gets
// the file's descriptor.
func withFile(t *testing.T, u *Uprobe, f func(p *player, fd uint64)) {
	t.Helper()
	root := vfs.Root.RootPlace()
	must(t, vfs.Root.MakeFileAt(root, "/lib", 0o755))
	defer vfs.Root.UnlinkAt(root, "/lib")
	must(t, vfs.WriteFile("/lib", bytes.Repeat([]byte{0x90}, 2*space.PageSize)))
	w, kernel := proctest.NewWorld(64<<20, syscalls.Handle), space.Kernel
	w.Frames, w.Machine.Frames, space.Kernel = frame.Kernel, frame.Kernel, w.Machine
	defer func() { space.Kernel = kernel }()
	u.Path, u.Offset = "/lib", offset
	if u.Handler == nil {
		u.Handler = func(*Uprobe, *amd64.Regs) {}
	}
	s := playedOn(t, w, func(*proc.Process) { vfs.ReadFile("/lib") }, func(p *player) {
		p.PokeString(proctest.Data, "/lib")
		fd := p.Call(nOpen, proctest.Data, abi.O_RDONLY, 0)
		if fd < 0 {
			t.Errorf("open: %d", fd)
			return
		}
		f(p, uint64(fd))
		UnregisterUprobe(u)
	})
	if s != 0 {
		t.Errorf("status %#x", s)
	}
}

// mapLib maps pages of the file.
func mapLib(t *testing.T, p *player, fd, at, pages, prot, off uint64) {
	t.Helper()
	if got := p.Call(nMmap, at, pages*space.PageSize, prot, abi.MAP_PRIVATE|abi.MAP_FIXED, fd, off); got != int64(at) {
		t.Errorf("mmap at %#x: %#x", at, got)
	}
}

// probedAt fails the test unless there is a breakpoint at addr, or not.
func probedAt(t *testing.T, p *player, what string, addr uint64, want bool) {
	t.Helper()
	if got := p.Peek(addr, 1)[0] == 0xCC; got != want {
		t.Errorf("%s: probed is %v", what, got)
	}
}

// TestFileProbeComesWithTheMapping: by mmap, by mprotect and by mremap; data has none.
func TestFileProbeComesWithTheMapping(t *testing.T) {
	u := new(Uprobe)
	withFile(t, u, func(p *player, fd uint64) {
		mapLib(t, p, fd, libAt, 2, exec, 0)
		probedAt(t, p, "before registering", libAt+offset, false)
		must(t, register(u))
		probedAt(t, p, "registered", libAt+offset, true)
		mapLib(t, p, fd, libAt+0x10000, 2, exec, 0)
		probedAt(t, p, "mapped later", libAt+0x10000+offset, true)
		mapLib(t, p, fd, libAt+0x20000, 2, abi.PROT_READ, 0)
		probedAt(t, p, "data", libAt+0x20000+offset, false)
		p.Call(nMprotect, libAt+0x20000, 2*space.PageSize, exec)
		probedAt(t, p, "made executable", libAt+0x20000+offset, true)
		const maymove, fixed = 1, 2
		p.Call(nMremap, libAt, 2*space.PageSize, 2*space.PageSize, maymove|fixed, libAt+0x30000)
		probedAt(t, p, "moved", libAt+0x30000+offset, true)
		must(t, UnregisterUprobe(u))
		for _, at := range []uint64{0x10000, 0x20000, 0x30000} {
			probedAt(t, p, "unregistered", libAt+at+offset, false)
		}
	})
}

// TestFileProbeStaysInItsMapping: what lies behind the mapping's end is something else.
func TestFileProbeStaysInItsMapping(t *testing.T) {
	for _, first := range []bool{true, false} {
		u := new(Uprobe)
		withFile(t, u, func(p *player, fd uint64) {
			u.Offset = space.PageSize // the first byte behind the first page
			if first {
				must(t, register(u))
			}
			p.Call(nMmap, libAt+space.PageSize, space.PageSize, exec|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_FIXED|abi.MAP_ANONYMOUS, ^uint64(0), 0)
			p.Poke(libAt+space.PageSize, []byte{0x90})
			mapLib(t, p, fd, libAt, 1, exec, 0)
			mapLib(t, p, fd, libAt+0x10000, 1, exec, space.PageSize)
			if !first {
				must(t, register(u))
			}
			probedAt(t, p, "the page behind the mapping", libAt+space.PageSize, false)
			probedAt(t, p, "the file's page", libAt+0x10000, true)
		})
	}
}

// TestFileProbeOfSomeProcesses: Pid and Comm say which.
func TestFileProbeOfSomeProcesses(t *testing.T) {
	for _, c := range []struct {
		what string
		u    *Uprobe
		want bool
	}{
		{"this process", &Uprobe{Pid: 2}, true},
		{"another process", &Uprobe{Pid: 1234}, false},
		{"this name", &Uprobe{Comm: "test"}, true},
		{"another name", &Uprobe{Comm: "tes"}, false},
		{"all", &Uprobe{}, true},
	} {
		withFile(t, c.u, func(p *player, fd uint64) {
			mapLib(t, p, fd, libAt, 1, exec, 0)
			must(t, register(c.u))
			probedAt(t, p, c.what, libAt+offset, c.want)
		})
	}
}

// TestFileProbeOfAChild: fork's child is hit, too; a disabled probe nowhere.
func TestFileProbeOfAChild(t *testing.T) {
	for _, disabled := range []bool{false, true} {
		u := new(Uprobe)
		withFile(t, u, func(p *player, fd uint64) {
			mapLib(t, p, fd, libAt, 1, exec, 0)
			must(t, register(u))
			if disabled {
				must(t, DisableUprobe(u))
			}
			p.Fork(func(c *player) {
				c.Call(nGetpid)
				probedAt(t, c, "the child", libAt+offset, !disabled)
				mapLib(t, c, fd, libAt+0x10000, 1, exec, 0)
				probedAt(t, c, "what the child maps", libAt+0x10000+offset, !disabled)
				if !disabled {
					execute(c, libAt+offset)
				}
			}, fork)
			ends(t, p)
			hits := uint64(1)
			if disabled {
				hits = 0
			}
			if l := u.Ledger(); l.Handled != hits || l.Unexplained() != 0 {
				t.Errorf("disabled %v: %+v", disabled, l)
			}
		})
	}
}

// TestSlotsNextToMappings: not where the stack grows down to, not right behind a mapping, and
// never writable.
func TestSlotsNextToMappings(t *testing.T) {
	played(t, func(p *proc.Process) {
		s := p.Memory().Space
		for _, at := range []uint64{textAt + 3*space.PageSize, textAt + 16*space.PageSize} {
			_, err := s.Map(at, space.PageSize, space.Read|space.Write, space.Fixed|space.GrowsDown, nil, 0)
			must(t, err)
		}
		_, err := s.Map(textAt+6*space.PageSize, space.PageSize, space.Read, space.Fixed, nil, 0)
		must(t, err)
		_, err = s.Map(textAt+8*space.PageSize, space.PageSize, space.Read, space.Fixed, nil, 0) // one page between them
		must(t, err)
		areas := s.Areas()
		for _, at := range holes(s, textAt) {
			for _, a := range areas {
				if at == a.End && at != (textAt+near/2)&^(space.PageSize-1) {
					t.Errorf("%#x is right behind a mapping, which may grow", at)
				}
				if a.Ident.Name == "[stack]" && at < a.Start && a.Start-at <= 2*space.PageSize {
					t.Errorf("%#x is right below a stack", at)
				}
			}
			if far := int64(at - textAt); far > 1<<31-1 || far < -1<<31 {
				t.Errorf("%#x is out of reach of %#x", at, textAt)
			}
		}
		u := &Uprobe{Pid: p.PID, Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}
		write(t, p, at, 0x48, 0x89, 0x07)
		must(t, register(u))
		slot := SlotOf(p, at)
		if a, ok := s.At(slot); !ok || a.Prot != space.Read|space.Exec {
			t.Errorf("slots are %+v", a)
		}
		if err := p.Memory().Out(slot, []byte{0}); err == nil {
			t.Error("a program can change its slots")
		}
	}, func(*player) {})
}
