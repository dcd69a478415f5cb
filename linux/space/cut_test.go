package space

import (
	"errors"
	"testing"
	"time"

	"sonde/kernel/mm/backing"
)

// watchedFile calls held after a Hold.
type watchedFile struct {
	*fakeFile
	held func()
}

func (b *watchedFile) Hold() {
	b.fakeFile.Hold()
	if b.held != nil {
		b.held()
	}
}

// TestCutReachesAChildInTheMaking: a file becomes shorter while a space that maps it is forked.
func TestCutReachesAChildInTheMaking(t *testing.T) {
	m := newMachine(t, 0)
	m.Shootdown, m.Retire = nil, nil
	for range 20 { // Cut sees the spaces in any order
		f := &watchedFile{fakeFile: m.file(1)}
		s := m.space()
		mapAt(t, s, high, 1, Read|Write, Shared, f, 0)
		must(t, s.Store32(high, 7))
		cut := make(chan bool)
		f.held = func() { // the child has areas now, but no pages
			f.held = nil
			f.size = 0
			go func() {
				m.Cut(f, 0)
				close(cut)
			}()
			time.Sleep(5 * time.Millisecond)
		}
		child, err := s.Fork()
		must(t, err)
		<-cut
		for name, s := range map[string]*Space{"parent": s, "child": child} {
			if _, err := s.Load32(high); !errors.Is(err, backing.ErrBus) {
				t.Fatalf("the %s has a page behind the end: %v", name, err)
			}
		}
		child.Release()
		s.Release()
		f.close()
	}
}
