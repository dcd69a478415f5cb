package syscall

import (
	"slices"
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
)

// TestNotifyOfEntries: F_NOTIFY tells of what happens in a directory, once or until its file is closed, by SIGIO or by
// the signal of F_SETSIG, which says the descriptor. The signal comes before the call that causes it returns.
func TestNotifyOfEntries(t *testing.T) {
	run(t, func(p *player) {
		const dir, name, other = "/dnotify", "/dnotify/a", "/dnotify/b"
		want(t, p, "mkdir", at(p, nMkdir, dir, 0755), 0)
		f := uint64(at(p, nOpen, dir, abi.O_RDONLY))
		plain, chosen := heardOf(p, abi.SIGIO), heardOf(p, 40)
		notify := func(what string, events uint64) {
			t.Helper()
			want(t, p, what, p.Call(nFcntl, f, abi.F_NOTIFY, events), 0)
		}
		make := func(name string) {
			t.Helper()
			p.Call(nClose, uint64(at(p, nOpen, name, abi.O_CREAT|abi.O_RDWR, 0644)))
		}
		heard := func(what string, of *[]abi.Siginfo, n int) {
			t.Helper()
			if len(*of) != n {
				t.Errorf("%s: %d signals, want %d", what, len(*of), n)
			}
		}

		notify("a new file", abi.DN_CREATE)
		p.Call(nGetpid)
		want(t, p, "the owner", p.Call(nFcntl, f, abi.F_GETOWN), p.Call(nGetpid))
		make(name)
		heard("a new file", plain, 1)
		make(other) // it was told once

		want(t, p, "signal", p.Call(nFcntl, f, 10, 40), 0)
		notify("each removal", abi.DN_DELETE|abi.DN_MULTISHOT)
		want(t, p, "unlink", at(p, nUnlink, name), 0)
		heard("a removal", chosen, 1)
		want(t, p, "unlink", at(p, nUnlink, other), 0)
		heard("another", chosen, 2)
		for _, i := range *chosen {
			if i.Code != abi.POLL_MSG || uint64(i.Fields[8]) != f {
				t.Errorf("code %d, fields %#x of descriptor %d", i.Code, i.Fields, f)
			}
		}

		notify("nothing", 0)
		make(name)
		want(t, p, "unlink", at(p, nUnlink, name), 0)
		notify("a new file, and then a removal, too", abi.DN_CREATE|abi.DN_MULTISHOT)
		notify("a new file, and then a removal, too", abi.DN_DELETE|abi.DN_MULTISHOT)
		make(name)
		heard("a new file", chosen, 3)
		want(t, p, "unlink", at(p, nUnlink, name), 0)
		heard("a removal", chosen, 4)

		want(t, p, "close", p.Call(nClose, f), 0)
		make(name)
		f = uint64(at(p, nOpen, name, abi.O_RDWR))
		want(t, p, "no directory", p.Call(nFcntl, f, abi.F_NOTIFY, abi.DN_CREATE), errno(sys.ENOTDIR))
		want(t, p, "nothing of no directory", p.Call(nFcntl, f, abi.F_NOTIFY, 0), 0)
		want(t, p, "unlink", at(p, nUnlink, name), 0)
		want(t, p, "rmdir", at(p, nRmdir, dir), 0)
		if len(*plain) != 1 || len(*chosen) != 4 {
			t.Errorf("%d and %d signals at the end", len(*plain), len(*chosen))
		}
	})
}

// TestNotifyOfDirectories: DN_RENAME is for a new name in the same directory alone, and what happens to a directory is
// told to those who watch it and to those who watch the one that contains it.
func TestNotifyOfDirectories(t *testing.T) {
	run(t, func(p *player) {
		const dir, sub, renamed, name, moved = "/dnotify", "/dnotify/s", "/dnotify/r", "/dnotify/a", "/dnotify/s/a"
		want(t, p, "mkdir", at(p, nMkdir, dir, 0755), 0)
		want(t, p, "mkdir", at(p, nMkdir, sub, 0755), 0)
		p.Call(nClose, uint64(at(p, nOpen, name, abi.O_CREAT|abi.O_RDWR, 0644)))
		heard := heardOf(p, 40)
		var of []uint64
		for _, d := range []string{dir, sub} {
			f := uint64(at(p, nOpen, d, abi.O_RDONLY))
			of = append(of, f)
			want(t, p, "signal", p.Call(nFcntl, f, 10, 40), 0)
			want(t, p, "notify", p.Call(nFcntl, f, abi.F_NOTIFY, abi.DN_RENAME|abi.DN_ATTRIB|abi.DN_MULTISHOT), 0)
		}
		told := func(what string, r int64, fds ...uint64) {
			t.Helper()
			want(t, p, what, r, 0)
			var got []uint64
			for _, i := range *heard {
				got = append(got, uint64(i.Fields[8]))
			}
			if slices.Sort(got); !slices.Equal(got, fds) {
				t.Errorf("%s: told by %d, want %d", what, got, fds)
			}
			*heard = nil
		}
		p.PokeString(pathAddr+64, moved)
		told("move", at(p, nRename, name, pathAddr+64))
		p.PokeString(pathAddr+64, renamed)
		told("rename", at(p, nRename, sub, pathAddr+64), of[0])
		told("chmod", at(p, nChmod, renamed, 0700), of[0], of[1])
		told("chmod", at(p, nChmod, dir, 0700), of[0])
		told("chmod", at(p, nChmod, renamed+"/a", 0600), of[1])
		told("unlink", at(p, nUnlink, renamed+"/a"))
		told("rmdir", at(p, nRmdir, renamed))
		told("rmdir", at(p, nRmdir, dir))
	})
}
