// Package lock reads and sets one variable under its lock.
package lock

import "sync"

// Get returns what mu guards at v.
func Get[T any](mu sync.Locker, v *T) T {
	mu.Lock()
	defer mu.Unlock()
	return *v
}

// Set sets what mu guards at v.
func Set[T any](mu sync.Locker, v *T, to T) {
	mu.Lock()
	defer mu.Unlock()
	*v = to
}
