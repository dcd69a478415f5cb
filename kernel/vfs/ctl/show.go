package ctl

import (
	"io"
	"strings"
	"time"

	"sonde/kernel/printk"
	"sonde/kernel/vfs"
)

// A Show is where a module's result can be read.
type Show struct {
	name  string
	write func(io.Writer)
	over  chan struct{}
	ended chan struct{}
}

// NewShow makes the file /sys/kernel/debug/NAME, whose text is what write writes, and if every
// is more than 0 puts that text into the log so often, too.
//
// Context: goroutine; write is called in others.
// Errors: EEXIST there is such a file.
func NewShow(name string, every time.Duration, write func(io.Writer)) (*Show, error) {
	s := &Show{name, write, make(chan struct{}), make(chan struct{})}
	if err := vfs.Bind(s.path(), Print(write)); err != nil {
		return nil, err
	}
	go s.repeat(every)
	return s, nil
}

// End removes the file and puts the text into the log for the last time.
func (s *Show) End() {
	s.Cancel()
	s.log()
}

// Cancel removes the file, and no more.
func (s *Show) Cancel() {
	vfs.Root.Unbind(s.path()) // cannot fail: NewShow has made it
	close(s.over)
	<-s.ended
}

func (s *Show) path() string { return "/sys/kernel/debug/" + s.name }

func (s *Show) repeat(every time.Duration) {
	defer close(s.ended)
	var tick <-chan time.Time
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case <-s.over:
			return
		case <-tick:
			s.log()
		}
	}
}

func (s *Show) log() {
	var b strings.Builder
	s.write(&b)
	for line := range strings.Lines(b.String()) {
		printk.Info("%s: %s", s.name, strings.TrimSuffix(line, "\n"))
	}
}
