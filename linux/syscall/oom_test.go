package syscall

import (
	"strings"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// TestTheLargestEndsForWantOfMemory: if no memory is left, the largest process ends, and the others
// continue when it has. It used to be whichever process touched its next page, and then the next
// one, and so on.
func TestTheLargestEndsForWantOfMemory(t *testing.T) {
	const pageFault, userWrite, little, mib = 14, 6, 2 << 20, 1 << 20
	w := world(t)
	touch := func(p *player, n uint64) {
		at := uint64(p.Call(nMmap, 0, n, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, minus, 0))
		for end := at + n; at < end; at += space.PageSize {
			p.Fault(pageFault, userWrite, at)
		}
	}
	small := func(ready chan bool) func(p *player) {
		return func(p *player) {
			<-ready
			touch(p, little)
		}
	}
	ready, full := make(chan bool), make(chan bool)
	var others []*proc.Process
	for range 3 {
		others = append(others, begin(t, w, small(ready)))
	}
	big := begin(t, w, func(p *player) {
		for w.Frames.Stats().Used < 62*mib/space.PageSize {
			touch(p, mib)
		}
		close(full)
		p.Call(nPause)
		t.Error("the largest goes on")
	})
	<-full
	eaters := begin(t, w, func(p *player) { touch(p, 5*mib); p.Call(nExitGroup, 5) })
	close(ready)
	if s := finish(t, w, big); s != proc.Killed(abi.SIGKILL) {
		t.Errorf("the largest: status %#x", s)
	}
	if s := finish(t, w, eaters); s != proc.Exited(5) {
		t.Errorf("who asked: status %#x", s)
	}
	for _, p := range others {
		if s := finish(t, w, p); s != 0 {
			t.Errorf("a small one: status %#x", s)
		}
	}
	var lines []string
	for _, l := range w.Log() {
		if strings.Contains(l, "Out of memory") {
			lines = append(lines, l)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], "Killed process 5 (test) total-vm:") {
		t.Errorf("the log: %q", lines)
	}
}

// TestOneAloneEndsForWantOfMemory: the process that needs a page is itself the largest.
func TestOneAloneEndsForWantOfMemory(t *testing.T) {
	if s := run(t, func(p *player) {
		at := uint64(p.Call(nMmap, 0, 100<<20, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS|abi.MAP_NORESERVE, minus, 0))
		for ; ; at += space.PageSize {
			p.Fault(14, 6, at)
		}
	}); s != proc.Killed(abi.SIGKILL) {
		t.Errorf("status %#x", s)
	}
}
