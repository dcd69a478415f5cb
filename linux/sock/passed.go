package sock

import (
	"sync"
	"syscall"

	"sonde/kernel/lock"
	"sonde/kernel/vfs"
)

// mostPassed bounds the files in all messages together.
const mostPassed = 16 << 10

// passing counts the files that are in messages. Code that puts files into a message or takes them
// out holds its lock, so that collect sees a consistent state: a socket that no descriptor refers
// to can be reached only through a message.
var passing = struct {
	mu sync.Mutex
	// guarded by mu:
	files   int               // in messages
	sockets map[*vfs.File]int // the sockets among them: in how many messages
}{sockets: map[*vfs.File]int{}}

// register counts files that are put into a message.
//
// Errors: ETOOMANYREFS.
func register(files []*vfs.File) error {
	if len(files) == 0 {
		return nil
	}
	passing.mu.Lock()
	defer passing.mu.Unlock()
	if passing.files+len(files) > mostPassed {
		return syscall.ETOOMANYREFS
	}
	passing.files += len(files)
	for _, f := range files {
		if _, err := Of(f); err == nil {
			passing.sockets[f]++
		}
	}
	return nil
}

// unregister counts files that are taken out of a message.
func unregister(files []*vfs.File) {
	if len(files) == 0 {
		return
	}
	passing.mu.Lock()
	defer passing.mu.Unlock()
	passing.files -= len(files)
	for _, f := range files {
		if n := passing.sockets[f]; n > 1 {
			passing.sockets[f] = n - 1
		} else {
			delete(passing.sockets, f)
		}
	}
}

// Passed returns how many files are in messages.
func Passed() int { return lock.Get(&passing.mu, &passing.files) }

// copyFiles returns the files that came with the first n bytes, held for the receiver.
func (s *Socket) copyFiles(n int) (files []*vfs.File) {
	passing.mu.Lock()
	defer passing.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range s.inbox.messages {
		if i > 0 && (n <= 0 || s.kind != Stream) {
			break
		}
		files = append(files, m.Files...)
		n -= len(m.Data)
	}
	for _, f := range files {
		f.Hold()
	}
	return files
}

// discarded is the files of messages that will not be received. Closing one may discard others: they
// are queued here, so that a long chain of sockets in sockets needs no deep stack.
var discarded struct {
	mu sync.Mutex
	// guarded by mu:
	files  []*vfs.File
	closer bool // a goroutine is closing them
}

// discard frees messages that will not be received.
func discard(all []*Message) {
	var files []*vfs.File
	for _, m := range all {
		files = append(files, m.Files...)
		m.Files = nil
	}
	unregister(files)
	CloseAll(files)
}

// CloseAll closes files that came in a message, and sockets that become unreachable by that.
func CloseAll(files []*vfs.File) {
	if len(files) == 0 || !queueUp(files) {
		return
	}
	for {
		for f := next(); f != nil; f = next() {
			vfs.Close(f)
		}
		if rest := takeUnreachable(); len(rest) == 0 || !queueUp(rest) {
			return
		}
	}
}

// queueUp queues files, and reports whether the caller must close them.
func queueUp(files []*vfs.File) bool {
	discarded.mu.Lock()
	defer discarded.mu.Unlock()
	discarded.files = append(discarded.files, files...)
	first := !discarded.closer
	discarded.closer = true
	return first
}

// next returns a file to close; nil if there is none.
func next() *vfs.File {
	discarded.mu.Lock()
	defer discarded.mu.Unlock()
	n := len(discarded.files)
	if n == 0 {
		discarded.closer = false
		return nil
	}
	f := discarded.files[n-1]
	discarded.files = discarded.files[:n-1]
	return f
}

// isClosing reports whether a goroutine is closing discarded files; it searches for unreachable
// sockets afterwards.
func isClosing() bool { return lock.Get(&discarded.mu, &discarded.closer) }
