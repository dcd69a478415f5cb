package tape

import (
	"errors"
	"sync"
	"syscall"
	"testing"
)

func TestTape(t *testing.T) {
	if On() {
		t.Fatal("events are noted")
	}
	if err := Start(); err != nil || !On() {
		t.Fatal(err)
	}
	if err := Start(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("once more: %v", err)
	}
	Note(7, 1, Held, 8, 9)
	list, lost := Stop()
	if len(list) != 1 || list[0] != (Event{7, 1, Held, 8, 9}) || lost != 0 || On() {
		t.Errorf("%v, %d lost", list, lost)
	}
	if err := Start(); err != nil {
		t.Fatal(err)
	}
	if list, _ := Stop(); len(list) != 0 {
		t.Errorf("the next has %v", list)
	}
}

// TestLateNote: a grace period that began while events were noted ends after Stop. No recording was
// possible any more.
func TestLateNote(t *testing.T) {
	if err := Start(); err != nil {
		t.Fatal(err)
	}
	Stop()
	Note(7, 1, GraceOver, 0, 0)
	if err := Start(); err != nil {
		t.Fatal(err)
	}
	if list, _ := Stop(); len(list) != 0 {
		t.Errorf("the next has %v", list)
	}
}

// TestFullTape: several CPUs note more events than there is room for.
func TestFullTape(t *testing.T) {
	if err := Start(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for cpu := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range Events/4 + 3 {
				Note(uint64(i), cpu, Passed, uint64(cpu), 0)
			}
		}()
	}
	wg.Wait()
	list, lost := Stop()
	for _, e := range list {
		if e.A != uint64(e.CPU) || e.What != Passed {
			t.Fatalf("%v is of two events", e)
		}
	}
	if len(list) != Events || lost != 12 {
		t.Errorf("%d events, %d lost", len(list), lost)
	}
}
