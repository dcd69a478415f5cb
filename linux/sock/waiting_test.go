package sock

import (
	"fmt"
	"syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
)

// TestWaitingConnectionsAreBounded: the ends that wait to be accepted have no descriptors, and the
// ends that connected may be closed.
func TestWaitingConnectionsAreBounded(t *testing.T) {
	before := waiting.Load()
	var all []*vfs.File
	var err error
	made := 0
	for l := 0; err == nil && l < 3*mostWaiting/mostBacklog; l++ {
		f := New(abi.AF_UNIX, Stream, 0)
		all = append(all, f)
		to := socketOf(t, f)
		want(t, "bind", to.Bind(Addr{Family: abi.AF_UNIX, Name: fmt.Sprintf("\x00listener %d", l)}), nil)
		want(t, "listen", to.Listen(mostBacklog, Cred{}), nil)
		for range mostBacklog {
			from := New(abi.AF_UNIX, Stream, 0)
			if err = socketOf(t, from).Connect(to, Cred{}); err == nil {
				made++
			}
			from.Close()
		}
	}
	if err != syscall.ENFILE || made != mostWaiting-int(before) {
		t.Errorf("%d connections wait, %v", made, err)
	}
	c, err := socketOf(t, all[0]).Accept(0)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	from := New(abi.AF_UNIX, Stream, 0)
	want(t, "connect after an accept", socketOf(t, from).Connect(socketOf(t, all[0]), Cred{}), nil)
	from.Close()
	for _, f := range all {
		f.Close()
	}
	if n := waiting.Load(); n != before {
		t.Errorf("%d connections still wait", n-before)
	}
}
