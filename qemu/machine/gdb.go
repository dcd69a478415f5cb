package machine

import (
	"fmt"
	"net"
	"os"
	"strconv"
)

// GDB is a port of this host that has been taken for one machine, which waits there for gdb.
type GDB struct {
	Port     int
	listener *net.TCPListener
	theirs   *os.File // what QEMU inherits, or nil
}

// usualPort is the one that gdb's users expect.
const usualPort = 1234

// NewGDB takes gdb's usual port or, if another process has it, a free one. gdb may connect from now
// on: it is answered when QEMU runs. The caller must Close it.
func NewGDB() (*GDB, error) {
	l, err := listen(usualPort)
	if err != nil {
		l, err = listen(0)
	}
	if err != nil {
		return nil, fmt.Errorf("machine: no port for gdb: %w", err)
	}
	g := &GDB{Port: l.Addr().(*net.TCPAddr).Port, listener: l}
	if inherits {
		g.theirs, err = l.File()
	}
	return g, err
}

func listen(port int) (*net.TCPListener, error) {
	return net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
}

// arguments are what QEMU is told, in which the inherited file has the number fd. Where it inherits
// none, it has to take the port itself.
func (g *GDB) arguments(fd int) []string {
	switch {
	case g == nil:
		return nil
	case g.theirs == nil:
		g.listener.Close()
		return []string{"-gdb", "tcp:127.0.0.1:" + strconv.Itoa(g.Port), "-S"}
	}
	return []string{"-chardev", fmt.Sprintf("socket,id=gdb,server=on,wait=off,fd=%d", fd), "-gdb", "chardev:gdb", "-S"}
}

// inherited are the files for QEMU.
func (g *GDB) inherited() []*os.File {
	if g == nil || g.theirs == nil {
		return nil
	}
	return []*os.File{g.theirs}
}

// Close gives the port back; a QEMU that runs keeps it.
func (g *GDB) Close() {
	g.listener.Close()
	if g.theirs != nil {
		g.theirs.Close()
	}
}
