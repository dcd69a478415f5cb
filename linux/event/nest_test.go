package event

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
)

// newSets returns empty sets, also as files.
func newSets(t *testing.T, n int) (files []*vfs.File, all []*Epoll) {
	t.Helper()
	for range n {
		f := NewEpoll()
		e := f.Handle().(*Epoll)
		files, all = append(files, f), append(all, e)
	}
	t.Cleanup(func() {
		for _, f := range files {
			f.Close()
		}
		for i, e := range all {
			if len(nested.within[e])+len(nested.holds[e]) != 0 {
				t.Errorf("closed, but set %d is in %v, and %v in it", i, nested.within[e], nested.holds[e])
			}
		}
	})
	return files, all
}

func TestASetIsReadyWhenWhatIsInItIs(t *testing.T) {
	for _, flag := range []uint32{0, EdgeTrigger} {
		files, sets := newSets(t, 3)
		r, w := pipe.New(0)
		for i := range 2 {
			if err := sets[i].Add(1, files[i+1], uint32(poll.In)|flag, uint64(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := sets[2].Add(1, r, uint32(poll.In), 2); err != nil {
			t.Fatal(err)
		}
		if got := events(t, sets[0]); len(got) != 0 {
			t.Errorf("nothing is written, but %v", got)
		}
		waits := make(chan int)
		go func() {
			n, _ := sets[0].Wait(make([]Event, 4), time.Minute, nil)
			waits <- n
		}()
		w.Write([]byte("x"))
		if n := <-waits; n != 1 {
			t.Errorf("%#x: the outer set woke with %d events", flag, n)
		}
		want := 1
		if flag != 0 {
			want = 0 // the edge has passed
		}
		if got := events(t, sets[0]); len(got) != want {
			t.Errorf("%#x: again: %v", flag, got)
		}
		r.Read(make([]byte, 1))
		if got := events(t, sets[0]); len(got) != 0 {
			t.Errorf("%#x: read, but %v", flag, got)
		}
	}
}

func TestRingsOfSetsAreRefused(t *testing.T) {
	files, sets := newSets(t, 4)
	for i := range 3 {
		if err := sets[i].Add(1, files[i+1], 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		if err := sets[3].Add(9, files[i], 0, 0); err != syscall.ELOOP {
			t.Errorf("set %d in the innermost: %v", i, err)
		}
	}
	if err := sets[1].Delete(1, files[2]); err != nil {
		t.Fatal(err)
	}
	if err := sets[3].Add(1, files[0], 0, 0); err != nil {
		t.Errorf("the ring is open, but: %v", err)
	}
}

func TestSetsAreFiveDeep(t *testing.T) {
	for name, order := range map[string][]int{"from inside": {4, 3, 2, 1, 0}, "from outside": {0, 1, 2, 3, 4}, "middle last": {0, 1, 3, 4, 2}} {
		files, sets := newSets(t, 6)
		for i, at := range order {
			want := error(nil)
			if i == 4 {
				want = syscall.ELOOP
			}
			if err := sets[at].Add(1, files[at+1], 0, 0); err != want {
				t.Errorf("%s: %d in %d: %v, want %v", name, at+1, at, err, want)
			}
		}
	}
}

// TestWakeupsDoNotMultiply: if all sets of one layer are in all sets of the next, a wakeup may not
// follow more paths than are allowed.
func TestWakeupsDoNotMultiply(t *testing.T) {
	files, sets := newSets(t, 60)
	refused := 0
	for layer := range 3 {
		for i := range 20 {
			for j := range 20 {
				if layer == 2 {
					continue
				}
				err := sets[20*(layer+1)+i].Add(j, files[20*layer+j], 0, 0)
				if err == syscall.EINVAL {
					refused++
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	r, _ := pipe.New(0)
	if err := sets[0].Add(99, r, 0, 0); err != nil {
		t.Error(err)
	}
	for i := range 20 {
		if n := ways(sets[i])[2]; n > most[2] || n < most[2]-20 {
			t.Errorf("%d ways lead two sets further", n)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func TestExclusiveGoesWithFewFlags(t *testing.T) {
	files, sets := newSets(t, 2)
	r, _ := pipe.New(0)
	if err := sets[0].Add(1, r, uint32(poll.In)|Exclusive|OneShot, 0); err != syscall.EINVAL {
		t.Errorf("with one shot: %v", err)
	}
	if err := sets[0].Add(2, files[1], uint32(poll.In)|Exclusive, 0); err != syscall.EINVAL {
		t.Errorf("for a set: %v", err)
	}
	if err := sets[0].Add(1, r, uint32(poll.In)|Exclusive|EdgeTrigger, 0); err != nil {
		t.Error(err)
	}
	if err := sets[0].Modify(1, r, uint32(poll.In), 0); err != syscall.EINVAL {
		t.Errorf("modified: %v", err)
	}
}

// TestSetsAreTurnedAround: sets are nested in one order and then the other while files wake them,
// and no waiter hangs.
func TestSetsAreTurnedAround(t *testing.T) {
	files, sets := newSets(t, 2)
	var all sync.WaitGroup
	for i := range 2 {
		x := NewEventfd(0, false, 0)
		if err := sets[i].Add(5, x, uint32(poll.In), 0); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 2000 {
				x.Write(number(1))
				sets[1-i].Wait(make([]Event, 2), 0, nil)
				read(x)
			}
		})
		all.Go(func() {
			for range 2000 {
				if err := sets[i].Add(1, files[1-i], uint32(poll.In), 0); err == nil {
					sets[i].Delete(1, files[1-i])
				} else if err != syscall.ELOOP {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
