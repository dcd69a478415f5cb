package ctl

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// feed is the text of one reader.
type feed struct {
	queue poll.Queue
	mu    sync.Mutex
	// guarded by mu:
	text         string
	over, closed bool
}

func (f *feed) Poll() (ev poll.Events) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.text != "" {
		ev |= poll.In
	}
	if f.over {
		ev |= poll.Hup
	}
	return ev
}

func (f *feed) Queue() *poll.Queue { return &f.queue }

func (f *feed) Next(room []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	room = append(room, f.text...)
	f.text = ""
	return room
}

func (f *feed) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// add is what a writer does.
func (f *feed) add(text string, over bool) {
	f.mu.Lock()
	f.text += text
	f.over = over
	f.mu.Unlock()
	f.queue.Notify(poll.In)
}

// streams opens a stream several times.
func streams(t *testing.T, n, flag int) (files []*vfs.File, feeds []*feed) {
	t.Helper()
	tree := bind(t, Stream(func() (Feed, error) {
		feeds = append(feeds, new(feed))
		return feeds[len(feeds)-1], nil
	}))
	for range n {
		f, err := tree.OpenFile("/proc/x", flag)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files, feeds
}

func TestReadOfStreamWaits(t *testing.T) {
	files, feeds := streams(t, 1, os.O_RDONLY)
	got := make(chan string)
	go func() {
		for b := make([]byte, 4); ; {
			n, err := files[0].Read(b)
			if err != nil {
				got <- err.Error()
				return
			}
			got <- string(b[:n])
		}
	}()
	feeds[0].add("a line\n", false)
	if one, two := <-got, <-got; one+two != "a line\n" {
		t.Errorf("%q, %q", one, two)
	}
	feeds[0].add("last", true)
	if one, two := <-got, <-got; one != "last" || two != io.EOF.Error() {
		t.Errorf("%q, %q", one, two)
	}
}

func TestStreamThatDoesNotWait(t *testing.T) {
	files, feeds := streams(t, 1, os.O_RDONLY|vfs.O_NONBLOCK)
	b := make([]byte, 3)
	if _, err := files[0].Read(b); err != syscall.EAGAIN {
		t.Errorf("%v", err)
	}
	if ev := files[0].Poll(); ev != 0 {
		t.Errorf("polled as %#x", ev)
	}
	feeds[0].add("12345", false)
	for _, want := range []string{"123", "45"} {
		if ev := files[0].Poll(); ev != poll.In {
			t.Errorf("in front of %s, polled as %#x", want, ev)
		}
		if n, err := files[0].Read(b); string(b[:n]) != want || err != nil {
			t.Errorf("%q, %v", b[:n], err)
		}
	}
	if _, err := files[0].Read(b); err != syscall.EAGAIN {
		t.Errorf("%v", err)
	}
}

// TestReadersOfStreamAreApart: when one reader closes its file, another continues.
func TestReadersOfStreamAreApart(t *testing.T) {
	files, feeds := streams(t, 2, os.O_RDONLY|vfs.O_NONBLOCK)
	for _, f := range feeds {
		f.add("text", false)
	}
	if err := files[0].Close(); err != nil || !feeds[0].closed || feeds[1].closed {
		t.Errorf("%v, closed: %v, %v", err, feeds[0].closed, feeds[1].closed)
	}
	b := make([]byte, 2)
	for _, want := range []string{"te", "xt"} {
		if n, err := files[1].Read(b); string(b[:n]) != want || err != nil {
			t.Errorf("%q, %v", b[:n], err)
		}
	}
}

func TestUnreadStreamIsReadAgain(t *testing.T) {
	files, feeds := streams(t, 1, os.O_RDONLY|vfs.O_NONBLOCK)
	feeds[0].add("12345", false)
	b := make([]byte, 5)
	files[0].Read(b[:3])
	files[0].Unread(b[1:3])
	if n, err := files[0].Read(b); string(b[:n]) != "2345" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
}

func TestStreamIsNotWritten(t *testing.T) {
	tree := bind(t, Stream(func() (Feed, error) { return nil, syscall.EBUSY }))
	if _, err := tree.OpenFile("/proc/x", os.O_RDWR); !errors.Is(err, syscall.EACCES) {
		t.Errorf("for writing: %v", err)
	}
	if _, err := tree.OpenFile("/proc/x", os.O_RDONLY); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("refused: %v", err)
	}
}
