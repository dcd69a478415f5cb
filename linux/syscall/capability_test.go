package syscall

import (
	sys "syscall"
	"testing"
)

// TestCapset: what capget returns can be set; it was ENOSYS.
func TestCapset(t *testing.T) {
	const nCapset, header, sets = 126, scratch, scratch + 8
	run(t, func(p *player) {
		set := func() int64 { return p.Call(nCapset, header, sets) }
		for _, version := range []uint32{capVersion1, capVersion2, capVersion3} {
			p.Poke32(header, version)
			p.Poke32(header+4, 0)
			want(t, p, "capget", p.Call(nCapget, header, sets), 0)
			want(t, p, "the same", set(), 0)
			p.Poke32(sets+8, 1)
			want(t, p, "an inheritable one", set(), 0)
			p.Poke32(sets+4, ^uint32(1))
			want(t, p, "without one", set(), errno(sys.EPERM))
			p.Poke32(sets+4, ^uint32(0))
			p.Poke32(sets, 0)
			want(t, p, "without effect", set(), errno(sys.EPERM))
		}
		p.Poke32(header+4, 1)
		want(t, p, "another process", set(), errno(sys.EPERM))
		p.Poke32(header+4, ^uint32(4))
		want(t, p, "a group", set(), errno(sys.EPERM))
		p.Poke32(header, 7)
		want(t, p, "no version", set(), errno(sys.EINVAL))
		want(t, p, "the version", int64(p.Peek32(header)), capVersion3)
		want(t, p, "no header", p.Call(nCapset, 0, sets), errno(sys.EFAULT))
		p.Poke32(header+4, 0)
		want(t, p, "no sets", p.Call(nCapset, header, 0), errno(sys.EFAULT))
	})
}
