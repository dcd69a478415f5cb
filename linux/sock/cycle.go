package sock

import (
	"sync"
	"time"

	"sonde/kernel/lock"
	"sonde/kernel/vfs"
)

// pace limits how often collect runs: it may use a tenth of the time at most.
var pace struct {
	mu sync.Mutex
	// guarded by mu:
	next  time.Time
	timer *time.Timer // for the next run; nil: none
}

// collect closes sockets that can be reached only through their own inboxes: at once or, if there
// is much to search, a little later.
func collect() {
	if Passed() == 0 || isClosing() || !due() {
		return
	}
	begin := time.Now()
	CloseAll(takeUnreachable())
	pace.mu.Lock()
	defer pace.mu.Unlock()
	pace.next = time.Now().Add(10 * time.Since(begin))
}

// due reports whether to search now; if not, a timer does so later.
func due() bool {
	pace.mu.Lock()
	defer pace.mu.Unlock()
	wait := time.Until(pace.next)
	if wait > 0 && pace.timer == nil {
		pace.timer = time.AfterFunc(wait, func() {
			forgetTimer()
			collect()
		})
	}
	return wait <= 0
}

func forgetTimer() { lock.Set(&pace.mu, &pace.timer, nil) }

// takeUnreachable removes the files from the inboxes of such sockets and returns them.
func takeUnreachable() (files []*vfs.File) {
	var all []*Message
	for _, s := range unreachable() {
		all = append(all, s.clear()...)
	}
	for _, m := range all {
		files = append(files, m.Files...)
		m.Files = nil
	}
	unregister(files)
	return files
}

// clear removes all messages from s and from the connections that wait to be accepted.
func (s *Socket) clear() (all []*Message) {
	for _, c := range s.waiting() {
		all = append(all, c.clear()...)
	}
	s.update(func() { all = append(all, s.inbox.empty()...) })
	return all
}

// waiting returns the connections that wait to be accepted.
func (s *Socket) waiting() []*Socket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Socket(nil), s.pending...)
}

// unreachable returns the sockets that only messages hold, where all these messages are in inboxes
// of such sockets.
func unreachable() (dead []*Socket) {
	passing.mu.Lock()
	defer passing.mu.Unlock()
	left := map[*vfs.File]int{} // candidates, and in how many messages outside of their inboxes they are
	for f, n := range passing.sockets {
		if f.Uses() == n {
			left[f] = n
		}
	}
	for f := range left {
		for _, held := range holds(f) {
			if _, ok := left[held]; ok {
				left[held]--
			}
		}
	}
	var saved []*vfs.File
	for f, others := range left {
		if others > 0 {
			saved = append(saved, f)
		}
	}
	for len(saved) > 0 {
		f := saved[len(saved)-1]
		saved = saved[:len(saved)-1]
		if _, ok := left[f]; ok {
			delete(left, f)
			saved = append(saved, holds(f)...)
		}
	}
	for f := range left {
		s, _ := Of(f)
		dead = append(dead, s)
	}
	return dead
}

// holds returns the files in the inbox of the socket f and of the connections that wait there, each
// as often as it occurs. Context: passing.mu held.
func holds(f *vfs.File) []*vfs.File {
	s, err := Of(f)
	if err != nil {
		return nil
	}
	files := s.held()
	for _, c := range s.waiting() {
		files = append(files, c.held()...)
	}
	return files
}

// held returns the files in the inbox of s.
func (s *Socket) held() (files []*vfs.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.inbox.messages {
		files = append(files, m.Files...)
	}
	return files
}
