package tty

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// ptyOf opens a pseudo-terminal, both ends.
func ptyOf(t *testing.T, tree *vfs.FS) (master, slave *vfs.File) {
	t.Helper()
	m, err := tree.OpenFile("/dev/ptmx", vfs.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	m.Handle().(*Master).SetLock(false)
	s, err := tree.OpenFile("/dev/pts/0", vfs.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func ptyTree(t *testing.T) (tree *vfs.FS, left *int) {
	t.Helper()
	tree, left = vfs.New(), new(int)
	if err := MountPTYs(tree, nil, func(*TTY) { *left++ }); err != nil {
		t.Fatal(err)
	}
	return tree, left
}

func TestPTYHasALineDiscipline(t *testing.T) {
	tree, left := ptyTree(t)
	m, s := ptyOf(t, tree)
	m.Write([]byte("ab\x7fc\r"))
	b := make([]byte, 100)
	if n, _ := vfs.Read(s, b, nil); string(b[:n]) != "ac\n" {
		t.Errorf("line %q", b[:n])
	}
	s.Write([]byte("x\n"))
	if n, _ := vfs.Read(m, b, nil); string(b[:n]) != "ab\b \bc\r\nx\r\n" {
		t.Errorf("shown %q", b[:n])
	}
	s.Close()
	if _, err := m.Read(b); !errors.Is(err, syscall.EIO) || m.Poll()&poll.Hup == 0 {
		t.Errorf("nobody has the slave: %v, %#x", err, m.Poll())
	}
	if s, err := tree.OpenFile("/dev/pts/0", vfs.O_RDWR); err != nil {
		t.Error(err)
	} else if m.Poll()&poll.Hup != 0 {
		t.Error("opened again, but the master has hung up")
	} else {
		defer s.Close()
	}
	m.Close()
	if _, err := tree.OpenFile("/dev/pts/0", vfs.O_RDWR); !errors.Is(err, syscall.ENOENT) || *left != 1 {
		t.Errorf("after the master's close: %v, %d", err, *left)
	}
}

// TestPTYWaits: either end waits for the other, and is woken when that closes.
func TestPTYWaits(t *testing.T) {
	for _, masterCloses := range []bool{false, true} {
		tree, _ := ptyTree(t)
		m, s := ptyOf(t, tree)
		setting := raw(m.Handle().(*Master).Termios())
		m.Handle().(*Master).SetTermios(setting, false, false)
		fill := func(f *vfs.File) {
			for err := error(nil); err == nil; {
				_, err = vfs.Write(f, make([]byte, 1000), nil)
			}
		}
		var wg sync.WaitGroup
		if masterCloses {
			fill(s)
			wg.Go(func() {
				if _, err := s.Write([]byte("x")); !errors.Is(err, syscall.EIO) {
					t.Errorf("write: %v", err)
				}
			})
		} else {
			wg.Go(func() {
				if _, err := m.Read(make([]byte, 1)); !errors.Is(err, syscall.EIO) {
					t.Errorf("read: %v", err)
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		if masterCloses {
			m.Close()
		} else {
			s.Close()
		}
		wg.Wait()
		m.Close()
		s.Close()
	}
}

// TestPTYLosesNothing: raw bytes arrive at both ends, however slow they are.
func TestPTYLosesNothing(t *testing.T) {
	tree, _ := ptyTree(t)
	m, s := ptyOf(t, tree)
	m.Handle().(*Master).SetTermios(raw(m.Handle().(*Master).Termios()), false, false)
	const total = 1 << 19
	var wg sync.WaitGroup
	for _, ends := range [][2]*vfs.File{{m, s}, {s, m}} {
		wg.Go(func() {
			buf := make([]byte, 5000)
			for at := 0; at < total; {
				for k := range buf {
					buf[k] = byte((at + k) * 7 >> 4)
				}
				n, err := ends[0].Write(buf[:min(len(buf), total-at)])
				if err != nil {
					t.Error(err)
					return
				}
				at += n
			}
		})
		wg.Go(func() {
			buf := make([]byte, 3000)
			for at := 0; at < total; {
				n, err := ends[1].Read(buf)
				if err != nil && err != io.EOF {
					t.Error(err)
					return
				}
				for k, c := range buf[:n] {
					if c != byte((at+k)*7>>4) {
						t.Errorf("byte %d is wrong", at+k)
						return
					}
				}
				at += n
			}
		})
	}
	wg.Wait()
	m.Close()
	s.Close()
}

func TestPTYsAreBounded(t *testing.T) {
	tree, _ := ptyTree(t)
	var all []*vfs.File
	for range mostPTYs {
		m, err := tree.OpenFile("/dev/ptmx", vfs.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	if _, err := tree.OpenFile("/dev/ptmx", vfs.O_RDWR); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("one too many: %v", err)
	}
	for _, m := range all {
		m.Close()
	}
	m, s := ptyOf(t, tree)
	m.Write(make([]byte, 1<<20)) // a line without an end: the excess is lost
	if n := m.Handle().(*Master).Buffered(); n > 2*mostOutput {
		t.Errorf("%d bytes of echo", n)
	}
	m.Close()
	s.Close()
}

// TestOutputIsBounded: programs may have thousands of pseudo-terminals that nobody reads.
func TestOutputIsBounded(t *testing.T) {
	tree, _ := ptyTree(t)
	before := shownAll.Load()
	var all []*vfs.File
	const n = 2 * mostShown / mostOutput
	for i := range n {
		m, err := tree.OpenFile("/dev/ptmx", vfs.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		m.Handle().(*Master).SetLock(false)
		s, err := tree.OpenFile(fmt.Sprintf("/dev/pts/%d", i), vfs.O_RDWR|vfs.O_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		for err = error(nil); err == nil; {
			_, err = vfs.Write(s, make([]byte, mostOutput), nil)
		}
		all = append(all, m, s)
	}
	if got := shownAll.Load(); got < mostShown/2 || got > mostShown+n*scarceOutput {
		t.Errorf("%d bytes are shown", got)
	}
	m, s := all[len(all)-2], all[len(all)-1]
	if s.Poll()&poll.Out != 0 || m.Poll()&poll.In == 0 {
		t.Errorf("with little space, the slave polls as %#x, the master as %#x", s.Poll(), m.Poll())
	}
	if got, err := m.Read(make([]byte, 2*scarceOutput)); got < leastRoom/expansion || err != nil {
		t.Errorf("read: %d, %v", got, err)
	}
	if s.Poll()&poll.Out == 0 {
		t.Error("after that, there is no space")
	}
	for _, f := range all {
		f.Close()
	}
	if got := shownAll.Load(); got != before {
		t.Errorf("%d bytes are left", got-before)
	}
}

// TestEndsOfTheFileAreBounded: an end of the file has no byte, but takes memory until it is read.
func TestEndsOfTheFileAreBounded(t *testing.T) {
	tree, _ := ptyTree(t)
	m, s := ptyOf(t, tree)
	defer s.Close()
	defer m.Close()
	ends := bytes.Repeat([]byte{4}, maxAhead)
	for range 20 {
		vfs.Write(m, ends, nil)
	}
	if n := len(m.Handle().(*Master).lines); n > maxAhead {
		t.Errorf("%d ends of the file wait", n)
	}
	if n, err := vfs.Read(s, make([]byte, 9), nil); n != 0 || err != io.EOF {
		t.Errorf("read: %d, %v", n, err)
	}
}

// TestReprintsAreBounded: each VREPRINT shows the whole line again, before anything can be read.
func TestReprintsAreBounded(t *testing.T) {
	tree, _ := ptyTree(t)
	m, s := ptyOf(t, tree)
	defer s.Close()
	defer m.Close()
	tty := m.Handle().(*Master).TTY
	n := 0
	tty.underLock(func() poll.Events {
		for _, c := range slices.Concat(bytes.Repeat([]byte("x"), maxLine), bytes.Repeat([]byte{18}, 1000)) {
			tty.typed(c)
		}
		n = len(tty.pending)
		return 0
	})
	if n < mostOutput || n > 3*mostOutput {
		t.Errorf("%d bytes are to be shown", n)
	}
}

// TestHungUpSlaveIsStillOpen: the end of a session is no end for the master.
func TestHungUpSlaveIsStillOpen(t *testing.T) {
	tree, _ := ptyTree(t)
	m, s := ptyOf(t, tree)
	m.Handle().(*Master).HangUp()
	if ev := m.Poll(); ev&(poll.In|poll.Hup) != 0 {
		t.Errorf("the slave is open, but %#x", ev)
	}
	if _, err := vfs.Read(m, make([]byte, 1), nil); err != syscall.EAGAIN {
		t.Errorf("the slave is open, but reading says %v", err)
	}
	s.Close()
	if _, err := m.Read(make([]byte, 1)); !errors.Is(err, syscall.EIO) || m.Poll()&poll.Hup == 0 {
		t.Errorf("closed: %v, %#x", err, m.Poll())
	}
	m.Close()
}

// TestHangUpSignalsWhenTheTerminalIsGone: a handler of SIGHUP may ask for the terminal at once.
func TestHangUpSignalsWhenTheTerminalIsGone(t *testing.T) {
	tree := vfs.New()
	var order []string
	signal := func(group int, s Signal) { order = append(order, fmt.Sprint("signal ", s, " to ", group)) }
	if err := MountPTYs(tree, signal, func(x *TTY) { order = append(order, fmt.Sprint("left, hung up: ", x.HungUp())) }); err != nil {
		t.Fatal(err)
	}
	m, s := ptyOf(t, tree)
	m.Handle().(*Master).SetForeground(7)
	m.Close()
	s.Close()
	if want := []string{"left, hung up: true", "signal 1 to 7", "signal 18 to 7"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}
