package machine

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// A link is one of QEMU's ports at which the launcher is the other end. Where QEMU inherits open
// files, it is one of these; elsewhere, QEMU connects to a port on this host that listens for it alone.
type link struct {
	io.ReadWriteCloser
	theirs *os.File // what QEMU inherits, or nil
	where  string   // for QEMU's -chardev, after the id
	hangUp func()   // QEMU has ended: if it has not connected by then, it never will
}

// outLink is where QEMU writes what a script prints; fd is the number that the file has in QEMU.
func outLink(fd int) (link, error) {
	return newLink(fromChild, fmt.Sprintf("file,id=%%s,path=/dev/fd/%d", fd))
}

// controlLink is QEMU's monitor.
func controlLink(fd int) (link, error) {
	return newLink(socketPair, fmt.Sprintf("socket,id=%%s,fd=%d", fd))
}

// newLink makes a link of two connected files.
func newLink(pair func() (ours, theirs *os.File, err error), where string) (link, error) {
	if !inherits {
		return awaited()
	}
	ours, theirs, err := pair()
	if err != nil {
		return link{}, err
	}
	return link{ours, theirs, where, func() {}}, nil
}

// chardev is what QEMU is told about a link.
func (l *link) chardev(id string) string { return fmt.Sprintf(l.where, id) }

func (l *link) closeTheirs() {
	if l.theirs != nil {
		l.theirs.Close()
	}
}

// Close gives the link up, also if QEMU has never come.
func (l *link) Close() error {
	l.hangUp()
	l.closeTheirs()
	return l.ReadWriteCloser.Close()
}

// inherited are the files of links for QEMU.
func inherited(links ...*link) (files []*os.File) {
	for _, l := range links {
		if l.theirs != nil {
			files = append(files, l.theirs)
		}
	}
	return files
}

// awaited listens on a port of this host for one connection.
func awaited() (link, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return link{}, err
	}
	c := &caller{accept: sync.OnceValues(func() (net.Conn, error) {
		defer l.Close()
		return l.Accept()
	})}
	port := l.Addr().(*net.TCPAddr).Port
	return link{c, nil, fmt.Sprintf("socket,id=%%s,host=127.0.0.1,port=%d", port), func() { l.Close() }}, nil
}

// A caller is a connection that comes when it is first used.
type caller struct {
	accept func() (net.Conn, error)
}

func (c *caller) Read(b []byte) (int, error) {
	conn, err := c.accept()
	if err != nil {
		return 0, io.EOF
	}
	return conn.Read(b)
}

func (c *caller) Write(b []byte) (int, error) {
	conn, err := c.accept()
	if err != nil {
		return 0, err
	}
	return conn.Write(b)
}

// Close is called when QEMU has ended, so that accept does not wait any more.
func (c *caller) Close() error {
	conn, err := c.accept()
	if err != nil {
		return nil
	}
	return conn.Close()
}
