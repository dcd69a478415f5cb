package ring

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"sonde/kernel/poll"
)

const sharedSize = perfPage

func sharedOf(t *testing.T) (*Shared, []byte) {
	t.Helper()
	words := make([]uint64, (SharedPages+sharedSize)/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), SharedPages+sharedSize)
	return NewShared(mem), mem
}

func (s *Shared) put(data []byte) bool {
	p := s.Reserve(uintptr(len(data)))
	if p == nil {
		return false
	}
	copy(unsafe.Slice((*byte)(p), len(data)), data)
	SubmitShared(p)
	return true
}

// read reads a record as libraries do: nil if there is none.
func (s *Shared) read(mem []byte) []byte {
	for {
		at, end := s.Positions()
		if at >= end {
			return nil
		}
		h := s.header(at).Load()
		if h&sharedBusy != 0 {
			return nil
		}
		n := h & (sharedDiscard - 1)
		data := []byte{}
		for i := range n {
			data = append(data, mem[SharedPages+(at+sharedHead+i)%sharedSize])
		}
		atomic.StoreUint64((*uint64)(unsafe.Pointer(&mem[0])), at+(n+15)&^7)
		if h&sharedDiscard == 0 {
			return data
		}
	}
}

// TestSharedRecordsComeBack writes records of all sizes at all places, many times around; some are given up.
func TestSharedRecordsComeBack(t *testing.T) {
	s, mem := sharedOf(t)
	for i := range 20000 {
		if i%5 == 0 {
			DiscardShared(s.Reserve(uintptr(i % 100)))
		}
		data := pattern(uint64(i), 8+i*7%1900)
		if !s.put(data) {
			t.Fatalf("record %d of %d bytes does not fit", i, len(data))
		}
		if s.Poll() != poll.In {
			t.Fatal("nothing can be read")
		}
		if got := s.read(mem); !bytes.Equal(got, data) {
			t.Fatalf("record %d: %x", i, got)
		}
		if s.read(mem) != nil || s.Poll() != 0 {
			t.Fatal("an empty ring can be read")
		}
	}
}

// TestSharedEndsInAnyOrder: a record that is being written hides those behind it.
func TestSharedEndsInAnyOrder(t *testing.T) {
	s, mem := sharedOf(t)
	first, second := s.Reserve(8), s.Reserve(8)
	*(*uint64)(first), *(*uint64)(second) = 1, 2
	SubmitShared(second)
	if s.read(mem) != nil || s.Poll() != 0 {
		t.Error("the second one can be read before the first")
	}
	SubmitShared(first)
	for _, want := range []byte{1, 2} {
		if got := s.read(mem); len(got) != 8 || got[0] != want {
			t.Errorf("%x, not %d", got, want)
		}
	}
}

// TestAnyReaderIsBorne: the reader's position can be anything. What is being written is never written over.
func TestAnyReaderIsBorne(t *testing.T) {
	s, mem := sharedOf(t)
	held := s.Reserve(8)
	*(*uint64)(held) = 0x1122334455667788
	for i := range uint64(5000) {
		at := i * 0x9e3779b97f4a7c15
		if i%2 == 0 {
			_, at = s.Positions() // all was read, it says
		}
		binary.LittleEndian.PutUint64(mem, at)
		s.put(pattern(i, 8+int(i%100)))
		s.Poll()
	}
	if *(*uint64)(held) != 0x1122334455667788 {
		t.Errorf("%#x is in a record that is being written", *(*uint64)(held))
	}
	SubmitShared(held)
	for _, n := range []uintptr{sharedSize, sharedSize - 7, ^uintptr(0), ^uintptr(0) - 8} {
		if s.Reserve(n) != nil {
			t.Errorf("there is room for %d bytes", n)
		}
	}
}

// TestSharedByMany: each record is read once and whole, or was counted as lost.
func TestSharedByMany(t *testing.T) {
	s, mem := sharedOf(t)
	const writers, each = 4, 20000
	var all sync.WaitGroup
	var over atomic.Bool
	for w := range writers {
		all.Go(func() {
			for i := range uint64(each) {
				s.put(pattern(i*writers+uint64(w), 8+int(i)%60))
			}
		})
	}
	go func() { all.Wait(); over.Store(true) }()
	seen := map[uint64]bool{}
	for {
		ended := over.Load()
		got := s.read(mem)
		if got == nil {
			if ended {
				break
			}
			continue
		}
		n := binary.LittleEndian.Uint64(got)
		if seen[n] || !bytes.Equal(got, pattern(n, len(got))) {
			t.Fatalf("wrong, or read twice: %x", got)
		}
		seen[n] = true
	}
	if written, lost := s.Counts(); int(written) != len(seen) || written+lost != writers*each {
		t.Errorf("%d written, %d lost, %d read", written, lost, len(seen))
	}
}

func TestSharedSizes(t *testing.T) {
	for _, n := range []int{0, 1, 1024, 4097, 12 << 10, 2 * Most} {
		if err := FitsShared(n); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%d: %v", n, err)
		}
	}
}
