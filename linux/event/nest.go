package event

import (
	"sync"
	"syscall"
)

// maxNested is how deep sets may be nested.
//
// Source: Linux, epoll_ctl(2), ELOOP.
const maxNested = 5

// nested records which sets contain which, so that no wakeup runs in a cycle or through too many
// sets.
var nested = struct {
	mu     sync.Mutex
	within map[*Epoll]sets // guarded by mu: the sets that contain a set
	holds  map[*Epoll]sets // guarded by mu: the sets that a set contains
}{within: map[*Epoll]sets{}, holds: map[*Epoll]sets{}}

// sets counts how often each set occurs: a set can be added by several descriptors.
type sets map[*Epoll]int

// most is how many paths may lead from a set to sets that are one, two and more steps further out:
// a wakeup follows all of them. Paths of 5 steps are ruled out by maxNested.
//
// Source: Linux, fs/eventpoll.c, path_limits, of which the first is for files.
var most = [maxNested]int{1, 500, 100, 50, 10}

// nest records that outer will contain inner.
//
// Errors: ELOOP for a cycle, and for more than maxNested; EINVAL for too many paths.
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

// connect adds by to how often inner is in outer. Context: nested.mu held.
func connect(outer, inner *Epoll, by int) {
	count(nested.within, inner, outer, by)
	count(nested.holds, outer, inner, by)
}

// count adds by to how often to occurs among the sets of from. Context: nested.mu held.
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

// reaches reports whether from contains to, directly or not. Context: nested.mu held.
func reaches(from, to *Epoll) bool {
	for e := range nested.holds[from] {
		if e == to || reaches(e, to) {
			return true
		}
	}
	return false
}

// depth is the length of the longest chain of sets from e on, e included. Context: nested.mu held.
func depth(of map[*Epoll]sets, e *Epoll) int {
	most := 0
	for o := range of[e] {
		most = max(most, depth(of, o))
	}
	return most + 1
}

// crowded reports whether too many paths lead out of e, or out of a set in it that is not in seen.
// Context: nested.mu held.
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

// ways counts the paths that lead out of e, by their length. Context: nested.mu held.
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
