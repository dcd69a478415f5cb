package sock

import (
	"syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
)

// TestNoNameAfterTheClose: a thread may bind or connect a socket that another thread closes
// meanwhile. Nothing would release a name or a port that it gets after the close.
func TestNoNameAfterTheClose(t *testing.T) {
	ports := func() int {
		names.mu.Lock()
		defer names.mu.Unlock()
		return len(names.ports) + len(names.bound)
	}
	before := ports()
	gone := func(family uint16, k Kind) *Socket {
		f := New(family, k, 0)
		f.Close()
		return socketOf(t, f)
	}
	name := Addr{Family: abi.AF_UNIX, Name: "\x00after the close"}
	want(t, "bind", gone(abi.AF_INET, Stream).Bind(ip4(1, 0)), syscall.EBADF)
	want(t, "bind to a name", gone(abi.AF_UNIX, Stream).Bind(name), syscall.EBADF)
	want(t, "bind to a file", gone(abi.AF_UNIX, Stream).BindFile(name, 0, func(vfs.Node) error { return nil }), syscall.EBADF)
	want(t, "connect", gone(abi.AF_INET, Stream).Dial(ip4(1, 9), Cred{}), syscall.EBADF)
	want(t, "connect datagrams", gone(abi.AF_INET, Datagram).Dial(ip4(1, 9), Cred{}), syscall.EBADF)
	want(t, "disconnect", gone(abi.AF_INET, Datagram).Disconnect(), syscall.EBADF)
	_, err := gone(abi.AF_INET, Datagram).sender(ip4(1, 9))
	want(t, "send", err, syscall.EBADF)
	to := New(abi.AF_UNIX, Datagram, 0)
	defer to.Close()
	want(t, "connect to a name", gone(abi.AF_UNIX, Datagram).Connect(socketOf(t, to), Cred{}), syscall.EBADF)
	if socketOf(t, to).room.Waited() {
		t.Error("the closed socket waits for space")
	}
	if n := ports(); n != before {
		t.Errorf("%d names and ports are left", n-before)
	}
}
