//go:build tamago

package replay

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/poll"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/probe/glass"
)

// Mount makes the directory dir, usually /sys/kernel/debug/glass. A line written to new begins a recording;
// parse reads it. Reading new gives the number of the last one. The file of that name waits until the
// recording is complete, and is JSON. A number with a minus written to new ends that recording.
func Mount(tree *vfs.FS, dir string, parse func(line string) (Request, error)) error {
	f := &files{parse: parse}
	return tree.Bind(dir, ctl.Dir{List: f.names, Node: f.node})
}

// files are the recordings that were asked for by writing to new.
type files struct {
	parse func(line string) (Request, error)

	mu sync.Mutex
	// guarded by mu:
	last int
	list []*file // the oldest first; glass.Most at most
}

// A file is one recording.
type file struct {
	number int
	shot   *Shot
	stop   chan struct{} // closed: it is to end
	once   sync.Once     // closes it
	gone   chan struct{} // closed: the camera is gone
	queue  poll.Queue

	mu sync.Mutex
	// guarded by mu:
	over bool
	text []byte // JSON, when it is over
}

func (f *files) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := []string{"new"}
	for _, one := range f.list {
		names = append(names, strconv.Itoa(one.number))
	}
	return names
}

func (f *files) node(name string) vfs.Node {
	if name == "new" {
		return ctl.File{Read: f.read, Write: f.write}
	}
	if n, err := strconv.Atoi(name); err == nil {
		if one := f.find(n); one != nil {
			return ctl.Stream(func() (ctl.Feed, error) { return &feed{file: one}, nil })
		}
	}
	return nil
}

func (f *files) find(n int) *file {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.list {
		if one.number == n {
			return one
		}
	}
	return nil
}

func (f *files) read() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Appendf(nil, "%d\n", f.last), nil
}

// write begins a recording, or ends one.
//
// Errors: those of parse and of Request.Begin; ENOENT there is no recording of that number.
func (f *files) write(p []byte) error {
	line := strings.TrimSpace(string(p))
	if n, err := strconv.Atoi(line); err == nil && n < 0 {
		one := f.find(-n)
		if one == nil {
			return refusal.New(syscall.ENOENT, "there is no recording %d", -n)
		}
		one.end()
		return nil
	}
	q, err := f.parse(line)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	shot, err := q.Begin()
	if err != nil {
		return err
	}
	if len(f.list) == glass.Most { // of so many films one at least is in use no more, or there had been no other
		i := max(slices.IndexFunc(f.list, (*file).isOver), 0)
		f.list = slices.Delete(f.list, i, i+1)
	}
	f.last++
	one := &file{number: f.last, shot: shot, stop: make(chan struct{}), gone: make(chan struct{})}
	f.list = append(f.list, one)
	go one.run()
	return nil
}

// end ends the recording, and returns when its camera is gone.
func (one *file) end() {
	one.once.Do(func() { close(one.stop) })
	<-one.gone
}

func (one *file) isOver() bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.over
}

// run waits for the hit.
func (one *file) run() {
	one.shot.Wait(one.stop)
	rec, err := one.shot.Recording()
	var b bytes.Buffer
	if err == nil {
		err = rec.WriteJSON(&b)
	}
	if err != nil {
		b.Reset() // the file is empty: nothing was recorded
	}
	one.mu.Lock()
	one.over, one.text = true, b.Bytes()
	one.mu.Unlock()
	defer close(one.gone)
	one.shot.Close() // only now: write takes a film that is free for one that is over
	one.queue.Notify(poll.In | poll.Hup)
}

// A feed is the open file of a recording. It implements poll.Source and ctl.Feed.
type feed struct {
	*file
	given bool
}

func (f *feed) Poll() poll.Events {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.over:
		return 0
	case f.given || len(f.text) == 0:
		return poll.Hup
	}
	return poll.In
}

func (f *feed) Queue() *poll.Queue { return &f.queue }

func (f *feed) Next(room []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over || f.given {
		return room
	}
	f.given = true
	return append(room, f.text...)
}

func (f *feed) Close() error { return nil }
