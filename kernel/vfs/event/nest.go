package event

import (
	"sync"
	"syscall"
)

// maxNested is how many sets may be in each other.
//
// Source: Linux, epoll_ctl(2), ELOOP.
const maxNested = 5

// nested is which sets are in which, so that no wakeup runs in a ring, and none runs far.
var nested = struct {
	mu     sync.Mutex
	within map[*Epoll]sets // guarded by mu: those that a set is in
	holds  map[*Epoll]sets // guarded by mu: those that are in a set
}{within: map[*Epoll]sets{}, holds: map[*Epoll]sets{}}

// sets counts how often each is there: a set can be added by several descriptors.
type sets map[*Epoll]int

// most is how many ways may lead from a set to those that are as many steps further out:
// a wakeup takes all of them. Those of 5 steps are ruled out by maxNested.
//
// Source: as Linux does, fs/eventpoll.c, path_limits, of which the first is for files.
var most = [maxNested]int{1, 500, 100, 50, 10}

// nest notes that inner is to be in outer.
//
// Errors: ELOOP for a ring, and for more than maxNested; EINVAL for too many ways.
func nest(outer, inner *Epoll) error {
	nested.mu.Lock()
	defer nested.mu.Unlock()
	if outer == inner || reaches(inner, outer) || depth(nested.within, outer)+depth(nested.holds, inner) > maxNested {
		return syscall.ELOOP
	}
	connect(outer, inner, 1)
	if crowded(inner, map[*Epoll]bool{}) {
		connect(outer, inner, -1)
		return syscall.EINVAL
	}
	return nil
}

// unnest undoes one nest.
func unnest(outer, inner *Epoll) {
	nested.mu.Lock()
	defer nested.mu.Unlock()
	connect(outer, inner, -1)
}

// connect counts that inner is in outer. Context: nested.mu held.
func connect(outer, inner *Epoll, by int) {
	count(nested.within, inner, outer, by)
	count(nested.holds, outer, inner, by)
}

// count changes how often to is among those of from. Context: nested.mu held.
func count(of map[*Epoll]sets, from, to *Epoll, by int) {
	if of[from] == nil {
		of[from] = sets{}
	}
	if of[from][to] += by; of[from][to] == 0 {
		delete(of[from], to)
	}
	if len(of[from]) == 0 {
		delete(of, from)
	}
}

// reaches reports whether to is in from, or in what is in it. Context: nested.mu held.
func reaches(from, to *Epoll) bool {
	for e := range nested.holds[from] {
		if e == to || reaches(e, to) {
			return true
		}
	}
	return false
}

// depth is how many sets follow each other from e on, e included. Context: nested.mu held.
func depth(of map[*Epoll]sets, e *Epoll) int {
	most := 0
	for o := range of[e] {
		most = max(most, depth(of, o))
	}
	return most + 1
}

// crowded reports whether too many ways lead out of e, or out of what is in it and has
// not been seen. Context: nested.mu held.
func crowded(e *Epoll, seen map[*Epoll]bool) bool {
	seen[e] = true
	for steps, n := range ways(e) {
		if n > most[steps] {
			return true
		}
	}
	for inner := range nested.holds[e] {
		if !seen[inner] && crowded(inner, seen) {
			return true
		}
	}
	return false
}

// ways counts how many ways lead out of e, by their steps. Context: nested.mu held.
func ways(e *Epoll) (n [maxNested]int) {
	n[0] = 1
	for outer, times := range nested.within[e] {
		for steps, further := range ways(outer) {
			if steps+1 < maxNested {
				n[steps+1] += times * further
			}
		}
	}
	return n
}
