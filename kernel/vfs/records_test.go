package vfs

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sonde/internal/quick"
)

// recordFiles opens two files. Owners of locks are the numbers 1 to 3; no state may remain when
// they have released their locks.
func recordFiles(t *testing.T) (a, b *File) {
	t.Helper()
	tree := New()
	a, err := tree.OpenFile("/x", O_CREAT|O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = tree.OpenFile("/y", O_CREAT|O_RDWR); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for owner := range 4 {
			a.DropRecords(owner)
			b.DropRecords(owner)
		}
		a.Close()
		b.Close()
		if len(records.of) != 0 || len(records.waiting) != 0 || records.n != 0 {
			t.Errorf("left: %d files, %d who wait, %d locks", len(records.of), len(records.waiting), records.n)
		}
	})
	return a, b
}

func record(owner any, first, last int64) Record {
	return Record{First: first, Last: last, Exclusive: true, Owner: owner}
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// waiters waits until there are n waiters for a lock.
func waiters(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(quick.Hang); ; time.Sleep(time.Millisecond) {
		records.mu.Lock()
		now := len(records.waiting)
		records.mu.Unlock()
		if now == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d wait, want %d", now, n)
		}
	}
}

func TestRecordLocksOfOwners(t *testing.T) {
	f, _ := recordFiles(t)
	wantErr(t, "lock", f.LockRecord(record(1, 10, 19)), nil)
	wantErr(t, "of another", f.LockRecord(record(2, 19, 30)), syscall.EAGAIN)
	wantErr(t, "beside it", f.LockRecord(record(2, 20, 30)), nil)
	if r, found := f.Conflict(record(3, 0, ToEnd)); !found || r.First != 10 || r.Last != 19 || r.Owner != 1 {
		t.Errorf("in the way: %v, %v", r, found)
	}
	f.UnlockRecord(record(1, 12, 14))
	wantErr(t, "in the gap", f.LockRecord(record(2, 12, 14)), nil)
	wantErr(t, "before it", f.LockRecord(record(2, 11, 11)), syscall.EAGAIN)
	f.DropRecords(1)
	if r, found := f.Conflict(record(2, 0, ToEnd)); found {
		t.Errorf("in the way: %v", r)
	}
}

// TestRecordsAreOfOneFile: locks on other files do not matter; other openings and names do.
func TestRecordsAreOfOneFile(t *testing.T) {
	f, other := recordFiles(t)
	f.LockRecord(record(1, 0, 9))
	wantErr(t, "of another file", other.LockRecord(record(2, 0, 9)), nil)
	again, err := f.Place().fs.OpenFile("/x", O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	wantErr(t, "opened again", again.LockRecord(record(2, 0, 9)), syscall.EAGAIN)
}

func TestWaitForARecord(t *testing.T) {
	f, _ := recordFiles(t)
	f.LockRecord(record(1, 0, 9))
	f.LockRecord(record(2, 10, 19))
	done := make(chan error, 1)
	go func() { done <- f.LockRecordWait(record(3, 5, 15), nil) }()
	waiters(t, 1)
	f.UnlockRecord(record(1, 0, 9))
	f.LockRecord(Record{First: 10, Last: 19, Owner: 2}) // shared: it still conflicts
	select {
	case err := <-done:
		t.Fatalf("it has the lock: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	f.UnlockRecord(record(2, 10, 19))
	wantErr(t, "in the end", <-done, nil)
	cancel := make(chan struct{}, 1)
	cancel <- struct{}{}
	wantErr(t, "a signal", f.LockRecordWait(record(1, 0, ToEnd), cancel), syscall.EINTR)
}

// TestRingOfWaiters: 1 waits for 2, and 2 waits for 3; so 3 must not wait for 1.
func TestRingOfWaiters(t *testing.T) {
	a, b := recordFiles(t)
	a.LockRecord(record(1, 0, 0))
	b.LockRecord(record(2, 0, 0))
	a.LockRecord(record(3, 3, 3))
	done := make(chan error, 2)
	go func() { done <- b.LockRecordWait(record(1, 0, 0), nil) }()
	waiters(t, 1)
	go func() { done <- a.LockRecordWait(record(2, 3, 3), nil) }()
	waiters(t, 2)
	wantErr(t, "the ring", a.LockRecordWait(record(3, 0, 0), nil), syscall.EDEADLK)
	wantErr(t, "without waiting", a.LockRecord(record(3, 0, 0)), syscall.EAGAIN)
	a.DropRecords(3)
	wantErr(t, "2 goes on", <-done, nil)
	b.DropRecords(2)
	wantErr(t, "1 goes on", <-done, nil)
}

// TestRecordsOfAnOpenFile: they end with the last Close of the file.
func TestRecordsOfAnOpenFile(t *testing.T) {
	f, _ := recordFiles(t)
	own, err := f.Place().fs.OpenFile("/x", O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	own.Hold()
	wantErr(t, "lock", own.LockRecord(record(own, 0, 9)), nil)
	own.Close()
	wantErr(t, "one Close of two", f.LockRecord(record(1, 0, 9)), syscall.EAGAIN)
	own.Close()
	wantErr(t, "the last Close", f.LockRecord(record(1, 0, 9)), nil)
	wantErr(t, "closed", own.LockRecord(record(own, 20, 29)), errClosed)
	wantErr(t, "nothing is left", f.LockRecord(record(1, 20, 29)), nil)
}

func TestRecordsHaveALimit(t *testing.T) {
	f, _ := recordFiles(t)
	records.n += maxRecords - 2
	wantErr(t, "last but one", f.LockRecord(record(1, 0, 9)), nil)
	wantErr(t, "last", f.LockRecord(record(1, 20, 29)), nil)
	wantErr(t, "one more", f.LockRecord(record(1, 40, 49)), syscall.ENOLCK)
	wantErr(t, "a split", f.UnlockRecord(record(1, 4, 5)), syscall.ENOLCK)
	wantErr(t, "of one that is as it was", f.LockRecord(record(2, 4, 5)), syscall.EAGAIN)
	wantErr(t, "fewer", f.LockRecord(record(1, 10, 19)), nil)
	records.n -= maxRecords - 2
}

// TestManyWaitForRecords: two owners never have the same bytes, and each waiter gets its turn.
func TestManyWaitForRecords(t *testing.T) {
	f, _ := recordFiles(t)
	var inside [8]atomic.Int32
	var wg sync.WaitGroup
	for owner := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(owner), 0))
			for range 500 {
				first := rnd.Int64N(int64(len(inside)))
				r := record(owner, first, first+rnd.Int64N(int64(len(inside))-first))
				if err := f.LockRecordWait(r, nil); err != nil {
					t.Error(err) // each has one lock at a time, so there is no cycle
				}
				for b := r.First; b <= r.Last; b++ {
					if inside[b].Add(1) != 1 {
						t.Errorf("byte %d has two owners", b)
					}
				}
				runtime.Gosched()
				for b := r.First; b <= r.Last; b++ {
					inside[b].Add(-1)
				}
				f.UnlockRecord(r)
			}
		})
	}
	wg.Wait()
}
