package syscall

import (
	"testing"

	"sonde/kernel/vfs"
)

const nStatfs, nFstatfs = 137, 138

// TestStatfs: /proc uses no space, so that df leaves it out; a file in memory does.
func TestStatfs(t *testing.T) {
	if err := vfs.Root.MkdirAll("/proc", 0555); err != nil {
		t.Fatal(err)
	}
	run(t, func(p *player) {
		check := func(what string, magic int64, room bool) {
			want(t, p, what, int64(p.Peek64(scratch)), magic)
			if got := p.Peek64(scratch+16) > 0; got != room {
				t.Errorf("%s has room: %v", what, got)
			}
		}
		p.PokeString(pathAddr, "/proc")
		want(t, p, "statfs", p.Call(nStatfs, pathAddr, scratch), 0)
		check("/proc", 0x9fa0, false)
		f := openPath(p, "/proc", 0)
		want(t, p, "fstatfs", p.Call(nFstatfs, f, scratch), 0)
		check("an open /proc", 0x9fa0, false)
		f = openNew(p, "/file", 0)
		want(t, p, "fstatfs", p.Call(nFstatfs, f, scratch), 0)
		check("a removed file", 0x01021994, true)
		want(t, p, "pipe", p.Call(nPipe, scratch), 0)
		want(t, p, "fstatfs", p.Call(nFstatfs, uint64(p.Peek32(scratch)), scratch), 0)
		check("a pipe", 0x01021994, true)
	})
}
