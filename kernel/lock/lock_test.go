package lock

import (
	"sync"
	"testing"
)

// counted counts the calls of a lock, and fails if it is not held when it is released.
type counted struct {
	sync.Mutex
	locked int
}

func (c *counted) Lock() { c.Mutex.Lock(); c.locked++ }

func TestUnderTheLock(t *testing.T) {
	var mu counted
	v := 1
	if Set(&mu, &v, 2); Get(&mu, &v) != 2 || mu.locked != 2 || !mu.TryLock() {
		t.Errorf("%d; locked %d times, or still", v, mu.locked)
	}
}
