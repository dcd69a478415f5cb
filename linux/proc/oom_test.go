package proc

import (
	"testing"
	"time"
)

// TestWhatAVictimLeftIsTriedFirst: a thread that found no memory just before a victim ended used to
// choose another one, a small process that had done nothing.
func TestWhatAVictimLeftIsTriedFirst(t *testing.T) {
	v := &Process{done: make(chan struct{})}
	close(v.done)
	var table Table
	table.oom.victim, table.oom.since = v, time.Now()
	if got := table.chooseVictim(nil); got != v {
		t.Errorf("before it has tried: %v", got)
	}
	if got := table.chooseVictim(v); got != nil {
		t.Errorf("after it has tried, and there is no other: %v", got)
	}
}
