package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
)

func TestOpenat2KeepsWithinBounds(t *testing.T) {
	root := vfs.Root.RootPlace()
	for _, dir := range []string{"/bound", "/bound/in"} {
		if err := vfs.Root.MkdirAt(root, dir, 0755); err != nil {
			t.Fatal(err)
		}
	}
	vfs.Root.MakeFileAt(root, "/bound/in/file", 0644)
	for name, to := range map[string]string{"up": "../../proc", "abs": "/in/file", "near": "in/file"} {
		vfs.Root.SymlinkAt(to, root, "/bound/"+name)
	}
	t.Cleanup(func() {
		for _, name := range []string{"up", "abs", "near", "in/file", "made"} {
			vfs.Root.UnlinkAt(root, "/bound/"+name)
		}
		vfs.Root.RmdirAt(root, "/bound/in")
		vfs.Root.RmdirAt(root, "/bound")
	})
	run(t, func(p *player) {
		dir := openPath(p, "/bound", abi.O_RDONLY|abi.O_DIRECTORY)
		try := func(path string, how openHow) int64 {
			p.PokeString(pathAddr, path)
			p.Poke(scratch, abi.Bytes(&how))
			return p.Call(nOpenat2, dir, pathAddr, scratch, openHowSize)
		}
		for _, c := range []struct {
			path    string
			resolve uint64
			errno   sys.Errno
		}{
			{"in/file", 0, 0}, {"in/../in/file", vfs.ResolveBeneath, 0}, {"near", vfs.ResolveBeneath, 0},
			{"..", vfs.ResolveBeneath, sys.EXDEV}, {"in/../..", vfs.ResolveBeneath, sys.EXDEV},
			{"/bound/in", vfs.ResolveBeneath, sys.EXDEV}, {"abs", vfs.ResolveBeneath, sys.EXDEV}, {"up", vfs.ResolveBeneath, sys.EXDEV},
			{"/in/file", vfs.ResolveInRoot, 0}, {"../../in/file", vfs.ResolveInRoot, 0}, {"abs", vfs.ResolveInRoot, 0},
			{"/proc", vfs.ResolveInRoot, sys.ENOENT}, {"abs", 0, sys.ENOENT},
			{"near", vfs.ResolveNoSymlinks, sys.ELOOP}, {"near", vfs.ResolveNoMagicLinks, 0},
			{"in/file", vfs.ResolveNoXDev, 0}, {"in/file", vfs.ResolveCached, 0},
		} {
			r := try(c.path, openHow{Resolve: c.resolve})
			if c.errno != 0 || r < 0 {
				want(t, p, c.path, r, errno(c.errno))
				continue
			}
			p.Call(nClose, uint64(r))
		}
		// A file that was opened by a restricted walk does not restrict walks from it.
		in := try(".", openHow{Resolve: vfs.ResolveBeneath, Flags: abi.O_PATH})
		p.PokeString(pathAddr, "../bound/in/file")
		if r := p.Call(nOpenat, uint64(in), pathAddr, 0, 0); r < 0 {
			t.Errorf("bounds stay with the descriptor: %d", r)
		}
		made := try("made", openHow{Flags: abi.O_CREAT | abi.O_RDWR, Mode: 0600, Resolve: vfs.ResolveBeneath})
		if made < 0 {
			t.Errorf("a file was not made: %d", made)
		}
		for what, how := range map[string]openHow{
			"a mode and no file": {Mode: 0600}, "no such mode": {Flags: abi.O_CREAT, Mode: 1 << 20}, "no such bound": {Resolve: 0x40},
			"two roots": {Resolve: vfs.ResolveBeneath | vfs.ResolveInRoot}, "no such flag": {Flags: 1 << 40},
			"O_PATH and more": {Flags: abi.O_PATH | abi.O_RDWR},
		} {
			want(t, p, what, try("in/file", how), errno(sys.EINVAL))
		}
		want(t, p, "short", p.Call(nOpenat2, dir, pathAddr, scratch, 23), errno(sys.EINVAL))
		p.Poke(scratch, make([]byte, 32))
		p.Poke64(scratch+24, 1)
		want(t, p, "more than is known", p.Call(nOpenat2, dir, pathAddr, scratch, 32), errno(sys.E2BIG))
	})
}
