package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
)

// TestTooManyFilesOfAll: beyond the limit, what opens a file is refused and has done nothing; what
// gives a file that is open another descriptor is not.
func TestTooManyFilesOfAll(t *testing.T) {
	defer func(was int) { MostOpen = was }(MostOpen)
	run(t, func(p *player) {
		first := at(p, nOpen, "/first", abi.O_CREAT|abi.O_RDWR, 0600)
		MostOpen = vfs.Opened() + 1
		want(t, p, "a pipe", p.Call(nPipe2, scratch, 0), errno(sys.ENFILE))
		last := at(p, nOpen, "/last", abi.O_CREAT|abi.O_RDWR, 0600)
		want(t, p, "the last", last, first+1)
		want(t, p, "one more", at(p, nOpen, "/more", abi.O_CREAT|abi.O_RDWR, 0600), errno(sys.ENFILE))
		want(t, p, "is not made", at(p, nUnlink, "/more"), errno(sys.ENOENT))
		want(t, p, "a set", p.Call(nEpollCreate1, 0), errno(sys.ENFILE))
		want(t, p, "a copy", p.Call(nDup, uint64(last)), last+1)
		if n := vfs.Opened(); n != MostOpen {
			t.Errorf("%d files are open, and there may be %d", n, MostOpen)
		}
		want(t, p, "close", p.Call(nClose, uint64(first)), 0)
		want(t, p, "again", at(p, nOpen, "/more", abi.O_CREAT|abi.O_RDWR, 0600), first)
		for _, name := range []string{"/first", "/last", "/more"} {
			want(t, p, "unlink "+name, at(p, nUnlink, name), 0)
		}
	})
}
