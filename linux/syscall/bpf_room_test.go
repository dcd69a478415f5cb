package syscall

import (
	sys "syscall"
	"testing"

	"sonde/bpf"
	"sonde/probe/program"
)

// TestBPFRoom: what all processes load has a limit, and what is closed or refused does not count.
func TestBPFRoom(t *testing.T) {
	defer program.Memory.Store(program.Memory.Get())
	types := []byte{0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0 /* PTR */, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0}
	const size = 37
	const btfAt, badAt = logAt, logAt + 100
	for what, c := range map[string]struct {
		room int64
		load func(p *player) int64
		bad  func(p *player) int64
	}{
		"programs": {2 * 2 * bpf.InsnBytes,
			func(p *player) int64 { return loadProgram(t, p, "r0 = 0\nexit", "GPL", 0, 0) },
			func(p *player) int64 { return loadProgram(t, p, "r0 = r1\nr0 = r2", "GPL", 0, 0) }},
		"types": {2 * size,
			func(p *player) int64 { return bpfCallOf(p, cmdLoadBTF, a64(0, btfAt), a32(16, size)) },
			func(p *player) int64 { return bpfCallOf(p, cmdLoadBTF, a64(0, badAt), a32(16, size)) }},
	} {
		t.Run(what, func(t *testing.T) {
			program.Memory.Store(16 * c.room)
			run(t, func(p *player) {
				p.Poke(btfAt, types)
				for range 3 {
					var fds []uint64
					for range 2 {
						if fd := c.bad(p); fd >= 0 || fd == errno(sys.ENOMEM) {
							t.Fatalf("a bad one: %d", fd)
						}
						fd := c.load(p)
						if fd < 0 {
							t.Fatalf("%d are loaded, the next: %d", len(fds), fd)
						}
						fds = append(fds, uint64(fd))
					}
					want(t, p, "one too many", c.load(p), errno(sys.ENOMEM))
					for _, fd := range fds {
						want(t, p, "close", p.Call(nClose, fd), 0)
					}
				}
			})
		})
	}
}
