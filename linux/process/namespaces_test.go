package process

import (
	"encoding/binary"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/proctest"
)

// TestNamespaces: bpftrace 0.23 asks by the number whether it is in the first namespace of processes.
func TestNamespaces(t *testing.T) {
	const nStat = 4
	run(t, func(p *proctest.Player) {
		if got := readlink(p, "/proc/self/ns/pid"); got != "pid:[4026531836]" {
			t.Errorf("the link is %q", got)
		}
		p.Poke(path, []byte("/proc/self/ns/pid\x00"))
		if n := p.Call(nStat, path, scratch); n != 0 {
			t.Errorf("stat: %d", n)
		}
		if ino := binary.LittleEndian.Uint64(p.Peek(scratch+8, 8)); ino != 4026531836 {
			t.Errorf("inode %d", ino)
		}
		if got := readlink(p, "/proc/self/ns/none"); got != "no such file or directory" {
			t.Errorf("another: %q", got)
		}
		if n := openAs(p, "/proc/self/ns/pid", abi.O_WRONLY); n >= 0 {
			t.Error("it is open for writing")
		}
	})
}
