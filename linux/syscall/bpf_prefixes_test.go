package syscall

import (
	"bytes"
	sys "syscall"
	"testing"

	"sonde/bpf"
	"sonde/probe/program"
)

// TestBPFPrefixes: the longest prefix of a key is found; the keys come in Linux's order, one by one and in batches.
func TestBPFPrefixes(t *testing.T) {
	run(t, func(p *player) {
		create := func(key, value, entries, flags uint32) int64 {
			return bpfCallOf(p, cmdMapCreate, a32(0, uint64(bpf.LPMTrie)), a32(4, uint64(key)), a32(8, uint64(value)), a32(12, uint64(entries)), a32(16, uint64(flags)))
		}
		const noPrealloc = 1
		for what, got := range map[string]int64{"memory at once": create(8, 8, 4, 0), "a flag": create(8, 8, 4, noPrealloc|1<<20), "short keys": create(4, 8, 4, noPrealloc),
			"long keys": create(261, 8, 4, noPrealloc), "no values": create(8, 0, 4, noPrealloc), "no entries": create(8, 8, 0, noPrealloc)} {
			want(t, p, what, got, errno(sys.EINVAL))
		}
		fd := uint64(create(8, 8, 3, noPrealloc))
		at := func(length uint32, a, b byte) {
			p.Poke32(keyAt, length)
			p.Poke(keyAt+4, []byte{a, b, 0, 0})
		}
		for i, c := range []struct {
			length uint32
			a, b   byte
		}{{8, 10, 0}, {16, 10, 1}, {8, 9, 0}} {
			at(c.length, c.a, c.b)
			p.Poke64(valueAt, uint64(i+1))
			want(t, p, "update of nothing", element(p, cmdUpdate, fd, program.Exist), errno(sys.ENOENT))
			want(t, p, "update", element(p, cmdUpdate, fd, program.NoExist), 0)
		}
		at(8, 11, 0)
		want(t, p, "a full one", element(p, cmdUpdate, fd, 0), errno(sys.ENOSPC))
		want(t, p, "lookup of nothing", element(p, cmdLookup, fd, 0), errno(sys.ENOENT))
		want(t, p, "take", element(p, cmdTake, fd, 0), errno(sys.EOPNOTSUPP))
		at(33, 10, 0)
		want(t, p, "too long", element(p, cmdUpdate, fd, 0), errno(sys.EINVAL))
		at(32, 10, 1)
		want(t, p, "lookup", element(p, cmdLookup, fd, 0), 0)
		want(t, p, "the longest", int64(p.Peek64(valueAt)), 2)
		var order []byte
		for next := bpfCallOf(p, cmdNext, a32(0, fd), a64(16, keyAt)); next == 0; next = bpfCallOf(p, cmdNext, a32(0, fd), a64(8, keyAt), a64(16, keyAt)) {
			order = append(order, p.Peek(keyAt, 1)[0], p.Peek(keyAt+4, 1)[0])
		}
		if want := []byte{8, 9, 16, 10, 8, 10}; !bytes.Equal(order, want) {
			t.Errorf("keys %d, want %d", order, want)
		}
		want(t, p, "a batch of too many", bpfCallOf(p, cmdLookupBatch, a64(8, nextAt), a64(16, keyAt), a64(24, valueAt), a32(32, 2), a32(36, fd)), 0)
		want(t, p, "the rest", bpfCallOf(p, cmdLookupBatch, a64(0, nextAt), a64(8, nextAt), a64(16, keyAt+16), a64(24, valueAt+16), a32(32, 2), a32(36, fd)), errno(sys.ENOENT))
		for i, v := range []uint64{3, 2, 1} {
			want(t, p, "a value of the batches", int64(p.Peek64(valueAt+8*uint64(i))), int64(v))
		}
		p.Poke32(nextAt, 1<<31)
		want(t, p, "a batch from nowhere", bpfCallOf(p, cmdLookupBatch, a64(0, nextAt), a64(8, nextAt), a64(16, keyAt), a64(24, valueAt), a32(32, 2), a32(36, fd)), errno(sys.ENOENT))
		at(16, 10, 1)
		want(t, p, "delete", element(p, cmdDelete, fd, 0), errno(sys.EINVAL))
		want(t, p, "delete", bpfCallOf(p, cmdDelete, a32(0, fd), a64(8, keyAt)), 0)
		want(t, p, "delete again", bpfCallOf(p, cmdDelete, a32(0, fd), a64(8, keyAt)), errno(sys.ENOENT))
		want(t, p, "lookup", element(p, cmdLookup, fd, 0), 0)
		want(t, p, "the shorter one", int64(p.Peek64(valueAt)), 1)
	})
}
