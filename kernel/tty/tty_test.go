package tty

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// term is a terminal with a screen and what it has sent.
type term struct {
	*TTY
	screen bytes.Buffer
	sent   string
	f      *vfs.File
}

func newTerm(t *testing.T) *term {
	t.Helper()
	x := new(term)
	x.TTY = New(&x.screen, func(group int, s Signal) { x.sent += fmt.Sprintf("%d:%d ", group, s) })
	tree := vfs.New()
	if err := tree.Bind("/dev/tty", &Device{x.TTY, 5, 0}); err != nil {
		t.Fatal(err)
	}
	var err error
	if x.f, err = tree.OpenFile("/dev/tty", vfs.O_RDWR); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *term) read(t *testing.T) string {
	t.Helper()
	b := make([]byte, 100)
	n, err := vfs.Read(x.f, b, nil)
	if err != nil {
		return err.Error()
	}
	return string(b[:n])
}

func TestReadersGetWholeLines(t *testing.T) {
	x := newTerm(t)
	x.Input([]byte("one\rtw"))
	if ev := x.f.Poll(); ev != poll.In|poll.Out || x.Buffered() != 4 {
		t.Errorf("%#x, %d bytes", ev, x.Buffered())
	}
	if got := x.read(t); got != "one\n" {
		t.Errorf("%q", got)
	}
	if _, err := vfs.Read(x.f, make([]byte, 1), nil); err != syscall.EAGAIN {
		t.Errorf("half a line: %v", err)
	}
	done := make(chan string)
	go func() {
		b := make([]byte, 2)
		n, _ := x.f.Read(b)
		done <- string(b[:n])
	}()
	x.Input([]byte("o\x7fo\r"))
	if got := <-done; got != "tw" {
		t.Errorf("%q", got)
	}
	if got := x.read(t); got != "o\n" {
		t.Errorf("the rest is %q", got)
	}
	if got := x.screen.String(); got != "one\r\ntwo\b \bo\r\n" {
		t.Errorf("screen %q", got)
	}
}

func TestEndOfFileIsTyped(t *testing.T) {
	x := newTerm(t)
	x.Input([]byte("abc\x04\x04"))
	if got := x.read(t); got != "abc" {
		t.Errorf("%q", got)
	}
	if got := x.read(t); got != "EOF" {
		t.Errorf("%q", got)
	}
	if _, err := vfs.Read(x.f, make([]byte, 1), nil); err != syscall.EAGAIN {
		t.Errorf("it lasts: %v", err)
	}
}

func TestKeysBecomeSignalsOfTheForeground(t *testing.T) {
	x := newTerm(t)
	x.Input([]byte("\x03"))
	if x.sent != "" {
		t.Errorf("nobody is in the foreground, but %q", x.sent)
	}
	x.SetForeground(7)
	x.Input([]byte("abc\x03\x1a\x1cd\r"))
	if x.sent != "7:2 7:20 7:3 " {
		t.Errorf("%q", x.sent)
	}
	if got := x.read(t); got != "d\n" {
		t.Errorf("what was typed before is there: %q", got)
	}
	x.SetWinsize(x.Winsize())
	x.SetWinsize(Winsize{Rows: 50, Cols: 100})
	if x.sent != "7:2 7:20 7:3 7:28 " {
		t.Errorf("%q", x.sent)
	}
	m := x.Termios()
	m.Lflag &^= ISIG
	x.SetTermios(m, false, false)
	x.Input([]byte("\x03\r"))
	if got := x.read(t); got != "\x03\n" {
		t.Errorf("%q", got)
	}
}

func TestReprintShowsTheLineAgain(t *testing.T) {
	x := newTerm(t)
	x.Input([]byte("ab\x12c\r"))
	if got := x.screen.String(); got != "ab^R\r\nabc\r\n" {
		t.Errorf("screen %q", got)
	}
	if got := x.read(t); got != "abc\n" {
		t.Errorf("%q", got)
	}
}

func TestRawModeGivesEachByteAtOnce(t *testing.T) {
	x := newTerm(t)
	x.Input([]byte("typed"))
	x.SetTermios(raw(x.Termios()), false, false)
	if got := x.read(t); got != "typed" {
		t.Errorf("what was typed before: %q", got)
	}
	x.screen.Reset()
	x.Input([]byte("\x03\r\x7f"))
	if got := x.read(t); got != "\x03\r\x7f" {
		t.Errorf("%q", got)
	}
	x.f.Write([]byte("a\nb"))
	if got := x.screen.String(); got != "a\nb" {
		t.Errorf("screen %q", got)
	}
}

func TestMinAndTime(t *testing.T) {
	x := newTerm(t)
	set := func(least, tenths byte) {
		m := raw(x.Termios())
		m.CC[VMIN], m.CC[VTIME] = least, tenths
		x.SetTermios(m, false, true)
	}
	set(3, 0)
	x.Input([]byte("ab"))
	if _, err := vfs.Read(x.f, make([]byte, 10), nil); err != syscall.EAGAIN || x.f.Poll() != poll.Out {
		t.Errorf("two of three: %v, %#x", err, x.f.Poll())
	}
	if n, err := vfs.Read(x.f, make([]byte, 1), nil); n != 1 || err != nil {
		t.Errorf("one is asked for: %d, %v", n, err)
	}
	set(0, 0)
	if _, err := vfs.Read(x.f, make([]byte, 1), nil); err != io.EOF {
		t.Errorf("nothing, and no wait: %v", err)
	}
	set(0, 1)
	began := time.Now()
	if _, err := x.f.Read(make([]byte, 1)); err != io.EOF || time.Since(began) < 90*time.Millisecond {
		t.Errorf("a tenth of a second: %v after %v", err, time.Since(began))
	}
	go func() { time.Sleep(10 * time.Millisecond); x.Input([]byte("x")) }()
	set(0, 255)
	if n, err := x.f.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestOutputStopsAndStarts(t *testing.T) {
	x := newTerm(t)
	x.Input([]byte("\x13"))
	if _, err := vfs.Write(x.f, []byte("x"), nil); err != syscall.EAGAIN || x.f.Poll() != 0 {
		t.Errorf("%v, %#x", err, x.f.Poll())
	}
	done := make(chan error)
	go func() { _, err := x.f.Write([]byte("later")); done <- err }()
	x.Input([]byte("\x11"))
	if err := <-done; err != nil || x.screen.String() != "later" {
		t.Errorf("%v, %q", err, x.screen.String())
	}
}

func TestHangUpEndsAll(t *testing.T) {
	x := newTerm(t)
	x.SetForeground(3)
	done := make(chan error)
	go func() { _, err := x.f.Read(make([]byte, 1)); done <- err }()
	x.HangUp()
	if err := <-done; err != io.EOF || x.sent != "3:1 3:18 " {
		t.Errorf("%v, sent %q", err, x.sent)
	}
	if _, err := x.f.Write([]byte("x")); !errors.Is(err, syscall.EIO) {
		t.Errorf("write: %v", err)
	}
	if _, err := (&Device{TTY: x.TTY}).Open(0); err != syscall.EIO {
		t.Errorf("open: %v", err)
	}
}

func TestWhatIsTypedAheadIsBounded(t *testing.T) {
	x := newTerm(t)
	for range 100 {
		x.Input(bytes.Repeat([]byte("x"), maxLine+10))
	}
	if len(x.line) != maxLine {
		t.Errorf("a line of %d bytes", len(x.line))
	}
	for range 100 {
		x.Input(bytes.Repeat([]byte("x"), maxLine/2))
		x.Input([]byte("\r"))
	}
	if x.ahead > maxAhead+maxLine+1 {
		t.Errorf("%d bytes typed ahead", x.ahead)
	}
}

func TestOnlyProgramsInTheForegroundGetWhatIsTyped(t *testing.T) {
	x := newTerm(t)
	if x.Offer([]byte("sh")) || x.Buffered() != 0 {
		t.Error("no program is in the foreground, and something is typed for one")
	}
	x.SetForeground(5)
	if !x.Offer([]byte("prog\r")) || x.read(t) != "prog\n" {
		t.Error("a program in the foreground does not get what is typed")
	}
	x.Offer([]byte("ahead\r\x04\rne"))
	if got := x.Reclaim(); string(got) != "ahead\n\nne" || x.Foreground() != 0 || x.Buffered() != 0 {
		t.Errorf("reclaimed %q", got)
	}
}

// raw returns t as cfmakeraw leaves it: each byte as it is, at once.
func raw(t Termios) Termios {
	t.Iflag &^= INLCR | IGNCR | ICRNL | IXON | 0x2b // and breaks and parity
	t.Oflag &^= OPOST
	t.Lflag &^= ISIG | ICANON | ECHO | ECHONL | IEXTEN
	t.CC[VMIN], t.CC[VTIME] = 1, 0
	return t
}
