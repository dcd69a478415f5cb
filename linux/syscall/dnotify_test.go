package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
)

// TestNotifyOfEntries: F_NOTIFY tells of what happens in a directory, once or until its file is closed, by SIGIO or by
// the signal of F_SETSIG, which says the descriptor.
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
			until(t, p, what, func() bool { return len(*of) >= n })
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
		if i := (*chosen)[0]; i.Code != abi.POLL_MSG || uint64(i.Fields[8]) != f {
			t.Errorf("code %d, fields %#x of descriptor %d", i.Code, i.Fields, f)
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
