package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
)

func TestExtendedAttributes(t *testing.T) {
	const nSet, nLset, nFset, nGet, nLget, nFget, nList, nFlist, nRemove, nFremove = 188, 189, 190, 191, 192, 193, 194, 196, 197, 199
	t.Cleanup(func() {
		for _, name := range []string{"/attributed", "/toit"} {
			vfs.Root.UnlinkAt(vfs.Root.RootPlace(), name)
		}
	})
	run(t, func(p *player) {
		const key, value, out = scratch, scratch + 0x200, scratch + 0x400
		f := openPath(p, "/attributed", abi.O_CREAT|abi.O_RDWR)
		vfs.Root.SymlinkAt("attributed", vfs.Root.RootPlace(), "/toit")
		put := func(n, what uint64, name, text string, flags uint64) int64 {
			p.PokeString(key, name)
			p.PokeString(value, text)
			return p.Call(n, what, key, value, uint64(len(text)), flags)
		}
		get := func(n, what uint64, name string) string {
			p.PokeString(key, name)
			size := p.Call(n, what, key, out, 0x200)
			if size < 0 {
				return sys.Errno(-size).Error()
			}
			return string(p.Peek(out, int(size)))
		}
		is := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		want(t, p, "none", p.Call(nList, pathAddr, out, 0x200), 0)
		want(t, p, "set", put(nSet, pathAddr, "user.colour", "red", 0), 0)
		is("by descriptor", get(nFget, f, "user.colour"), "red")
		want(t, p, "create again", put(nSet, pathAddr, "user.colour", "blue", xattrCreate), errno(sys.EEXIST))
		want(t, p, "replace nothing", put(nFset, f, "user.none", "blue", xattrReplace), errno(sys.ENODATA))
		want(t, p, "replace", put(nFset, f, "user.colour", "blue", xattrReplace), 0)
		is("replaced", get(nGet, pathAddr, "user.colour"), "blue")
		want(t, p, "empty", put(nFset, f, "security.empty", "", 0), 0)
		is("empty", get(nFget, f, "security.empty"), "")
		want(t, p, "its names", p.Call(nFlist, f, out, 0x200), 27)
		is("its names", string(p.Peek(out, 27)), "security.empty\x00user.colour\x00")
		want(t, p, "how long the names are", p.Call(nFlist, f, 0, 0), 27)
		want(t, p, "no room for them", p.Call(nFlist, f, out, 26), errno(sys.ERANGE))
		p.PokeString(key, "user.colour")
		want(t, p, "how long it is", p.Call(nFget, f, key, 0, 0), 4)
		want(t, p, "no room for it", p.Call(nFget, f, key, out, 3), errno(sys.ERANGE))
		want(t, p, "nowhere to put it", p.Call(nFget, f, key, 8, 4), errno(sys.EFAULT))

		p.PokeString(pathAddr, "/toit")
		is("through a link", get(nGet, pathAddr, "user.colour"), "blue")
		is("of the link", get(nLget, pathAddr, "user.colour"), sys.ENODATA.Error())
		want(t, p, "user's of a link", put(nLset, pathAddr, "user.colour", "x", 0), errno(sys.EPERM))
		want(t, p, "others of a link", put(nLset, pathAddr, "trusted.colour", "x", 0), 0)
		want(t, p, "what the link has", p.Call(nFremove, f, key), errno(sys.ENODATA))
	})
	run(t, func(p *player) {
		const key, value = scratch, scratch + 0x200
		f := openPath(p, "/attributed", abi.O_RDWR)
		set := func(name string, size, flags uint64) int64 {
			p.PokeString(key, name)
			return p.Call(nFset, f, key, value, size, flags)
		}
		want(t, p, "no name", set("", 1, 0), errno(sys.ERANGE))
		want(t, p, "no space", set("colour", 1, 0), errno(sys.EOPNOTSUPP))
		want(t, p, "another space", set("system.posix_acl_access", 1, 0), errno(sys.EOPNOTSUPP))
		want(t, p, "nothing behind it", set("user.", 1, 0), errno(sys.EINVAL))
		want(t, p, "too long", set("user.big", xattrSizeMax+1, 0), errno(sys.E2BIG))
		want(t, p, "flags", set("user.big", 1, 4), errno(sys.EINVAL))
		p.PokeString(key, "user.colour")
		want(t, p, "there is one", p.Call(nFremove, f, key), 0)
		want(t, p, "no more", p.Call(nFremove, f, key), errno(sys.ENODATA))
		want(t, p, "no file", p.Call(nRemove, 8, key), errno(sys.EFAULT))
		want(t, p, "no descriptor", p.Call(nFget, 99, key, 0, 0), errno(sys.EBADF))
	})
}
