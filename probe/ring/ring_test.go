package ring

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"sonde/internal/quick"
	"sonde/kernel/poll"
)

func ring(t testing.TB, cpus, size int) *Ring {
	t.Helper()
	r, err := New(cpus, size)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// put writes a record, and reports whether there was room.
func put(w *Writer, when int64, data []byte) bool {
	p := w.Reserve(uintptr(len(data)), when)
	if p == nil {
		return false
	}
	copy(unsafe.Slice((*byte)(p), len(data)), data)
	w.Submit()
	return true
}

// pattern is a record whose bytes say its number and size.
func pattern(n uint64, size int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, n)
	for len(b) < size {
		b = append(b, byte(n)+byte(len(b)))
	}
	return b
}

func TestSizesThatAreNone(t *testing.T) {
	for _, size := range []int{-1, 0, 1, 1000, 1023, 3 << 10, Most * 2} {
		if _, err := New(1, size); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%d: %v", size, err)
		}
	}
}

// TestRecordsComeBack writes records of all sizes at all places, many times around.
func TestRecordsComeBack(t *testing.T) {
	r := ring(t, 1, Least)
	w := r.Writer(0)
	for n := range 20000 {
		data := pattern(uint64(n), 8+n*7%(Least/2-headerSize-7))
		if !put(w, int64(n), data) {
			t.Fatalf("record %d of %d bytes does not fit into an empty ring", n, len(data))
		}
		got, ok := r.Take(nil)
		if !ok || got.When != int64(n) || got.CPU != 0 || !bytes.Equal(got.Data, data) {
			t.Fatalf("record %d: %v, %+v", n, ok, got)
		}
	}
	if l := r.Ledger(); l != (Ledger{Written: 20000, Read: 20000}) {
		t.Errorf("%+v", l)
	}
}

func TestEmptyAndLargestRecords(t *testing.T) {
	r := ring(t, 1, Least)
	w := r.Writer(0)
	most := int(w.most)
	for i := range 3 * Least {
		for _, n := range []int{0, most} {
			if !put(w, int64(i), make([]byte, n)) {
				t.Fatalf("round %d: %d bytes do not fit", i, n)
			}
			if rec, ok := r.Take(nil); !ok || len(rec.Data) != n {
				t.Fatalf("round %d: %d bytes, not %d", i, len(rec.Data), n)
			}
		}
	}
	for _, n := range []uintptr{uintptr(most) + 1, Least, ^uintptr(0), ^uintptr(0) - headerSize} {
		if w.Reserve(n, 0) != nil {
			t.Errorf("there is room for %d bytes", n)
		}
	}
	if l := r.Ledger(); l.Lost != 4 || l.Written != l.Read {
		t.Errorf("%+v", l)
	}
}

// TestWhatDoesNotFitIsLost: those that are there stay; each other one is counted.
func TestWhatDoesNotFitIsLost(t *testing.T) {
	r := ring(t, 1, Least)
	w := r.Writer(0)
	fit := 0
	for i := range 100 {
		if put(w, int64(i), pattern(uint64(i), 32)) {
			fit++
		}
	}
	if fit != Least/(32+headerSize) {
		t.Errorf("%d records fit", fit)
	}
	for i := range fit {
		if rec, ok := r.Take(nil); !ok || !bytes.Equal(rec.Data, pattern(uint64(i), 32)) {
			t.Fatalf("record %d: %v %+v", i, ok, rec)
		}
	}
	if l := r.Ledger(); l != (Ledger{Written: uint64(fit), Lost: uint64(100 - fit), Read: uint64(fit)}) {
		t.Errorf("%+v", l)
	}
	if !put(w, 0, []byte("again")) {
		t.Error("a ring that was read is full")
	}
}

func TestDiscardedRecordsAreNotRead(t *testing.T) {
	r := ring(t, 1, Least)
	w := r.Writer(0)
	for i := range 1000 {
		p := w.Reserve(40, int64(i))
		if p == nil {
			t.Fatal("no room")
		}
		if i%3 != 0 {
			w.Discard(p)
			if r.Poll() == 0 {
				t.Fatal("the room of a discarded record is not given back")
			}
		} else {
			w.Submit()
		}
		if _, ok := r.Take(nil); ok != (i%3 == 0) {
			t.Fatalf("record %d: %v", i, ok)
		}
		if r.Poll() != 0 {
			t.Fatal("an empty ring can be read")
		}
	}
	if l := r.Ledger(); l != (Ledger{Written: 334, Discarded: 666, Read: 334}) {
		t.Errorf("%+v", l)
	}
}

// TestWritersNest: a writer that interrupts another is not seen before that has ended, and
// neither harms the other.
func TestWritersNest(t *testing.T) {
	r := ring(t, 1, Least)
	w := r.Writer(0)
	outer := w.Reserve(8, 1)
	put(w, 2, []byte("inner"))
	if _, ok := r.Take(nil); ok {
		t.Fatal("a record is there before the outer writer has ended")
	}
	copy(unsafe.Slice((*byte)(outer), 8), "outer...")
	w.Submit()
	for _, want := range []string{"outer...", "inner"} {
		if rec, _ := r.Take(nil); string(rec.Data) != want {
			t.Errorf("%q, not %q", rec.Data, want)
		}
	}
}

// TestFullRingShowsWhatWasWrittenInside: a reservation that fails ends as one that succeeds.
func TestFullRingShowsWhatWasWrittenInside(t *testing.T) {
	r := ring(t, 1, Least)
	w := r.Writer(0)
	w.open++ // a writer that is about to find that there is no room, is interrupted
	put(w, 1, []byte("inner"))
	w.close()
	if rec, ok := r.Take(nil); !ok || string(rec.Data) != "inner" {
		t.Errorf("%v %+v", ok, rec)
	}
}

func TestOldestOfAllCPUsComesFirst(t *testing.T) {
	r := ring(t, 3, Least)
	for i, cpu := range []int{2, 0, 0, 1, 2, 1, 0} {
		put(r.Writer(cpu), int64(i), []byte{byte(cpu)})
	}
	for i, cpu := range []int{2, 0, 0, 1, 2, 1, 0} {
		if rec, ok := r.Take(nil); !ok || rec.When != int64(i) || rec.CPU != cpu || rec.Data[0] != byte(cpu) {
			t.Errorf("%d: %v, %+v", i, ok, rec)
		}
	}
}

// TestWritersAndReaders: each record is read once, or counted as lost, and whole. Every
// writer is a CPU; each of its records interrupts another one.
func TestWritersAndReaders(t *testing.T) {
	const cpus, readers, each = 4, 3, 20000
	r := ring(t, cpus, 4<<10)
	var writers, others sync.WaitGroup
	var over atomic.Bool
	for cpu := range cpus {
		writers.Go(func() {
			w := r.Writer(cpu)
			for i := range uint64(each) {
				outer := w.Reserve(16, int64(i))
				put(w, int64(i), pattern(i, 8+int(i)%90))
				if outer == nil {
					continue
				}
				*(*[2]uint64)(outer) = [2]uint64{i, ^i}
				if i%5 == 0 {
					w.Discard(outer)
				} else {
					w.Submit()
				}
			}
		})
	}
	var seen [cpus][2][each]atomic.Uint32
	check := func(rec Record) error {
		n := binary.LittleEndian.Uint64(rec.Data)
		kind := 1
		if len(rec.Data) == 16 && binary.LittleEndian.Uint64(rec.Data[8:]) == ^n {
			kind = 0
		} else if !bytes.Equal(rec.Data, pattern(n, 8+int(n)%90)) {
			return fmt.Errorf("damaged: %+v", rec)
		}
		if n >= each || rec.When != int64(n) || seen[rec.CPU][kind][n].Add(1) != 1 {
			return fmt.Errorf("wrong, or read twice: %+v", rec)
		}
		return nil
	}
	for range readers {
		others.Go(func() {
			for room := []byte(nil); ; {
				ended := over.Load() // in front of the look, so that nothing comes after it
				rec, ok := r.Take(room[:0])
				room = rec.Data
				switch {
				case !ok && ended:
					return
				case ok:
					if err := check(rec); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	writers.Wait()
	over.Store(true)
	others.Wait()
	l := r.Ledger()
	if l.Written != l.Read || l.Written+l.Discarded+l.Lost != 2*cpus*each {
		t.Errorf("%+v", l)
	}
}

func TestReadersWait(t *testing.T) {
	r := ring(t, 1, Least)
	for i := range 3 {
		done := make(chan error)
		go func() { done <- poll.Until(r, poll.In, nil) }()
		select {
		case <-done:
			t.Fatal("it did not wait")
		case <-time.After(3 * period):
		}
		put(r.Writer(0), 0, []byte("x"))
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, ok := r.Take(nil); !ok {
			t.Fatalf("round %d: nothing is there", i)
		}
	}
}

// TestNobodyLooksForNobody: the goroutine that looks ends with the last that waits.
func TestNobodyLooksForNobody(t *testing.T) {
	r := ring(t, 1, Least)
	cancel := make(chan struct{}, 1)
	cancel <- struct{}{}
	if err := poll.Until(r, poll.In, cancel); err != syscall.EINTR {
		t.Error(err)
	}
	for end := time.Now().Add(quick.Hang); r.waiters.watching.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it looks on")
		}
	}
}

func TestReserveAllocatesNothing(t *testing.T) {
	r := ring(t, 1, Least)
	w, room := r.Writer(0), make([]byte, 32)
	n := testing.AllocsPerRun(1000, func() {
		*(*[4]uint64)(w.Reserve(32, 1)) = [4]uint64{1, 2, 3, 4}
		w.Submit()
		r.Take(room[:0])
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := ring(b, 1, Most)
	w := r.Writer(0)
	for b.Loop() {
		if p := w.Reserve(32, 1); p != nil {
			*(*[4]uint64)(p) = [4]uint64{1, 2, 3, 4}
			w.Submit()
		} else {
			w.tail.Store(w.head.Load())
		}
	}
}
