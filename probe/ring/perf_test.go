package ring

import (
	"bytes"
	"encoding/binary"
	"errors"
	"syscall"
	"testing"
	"unsafe"
)

// perfOf returns a ring of 4 KiB and its memory.
func perfOf(t *testing.T) (*Perf, []byte) {
	t.Helper()
	words := make([]uint64, 2*perfPage/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 2*perfPage)
	p := &Perf{ID: 7}
	if err := p.SetMemory(mem, false); err != nil {
		t.Fatal(err)
	}
	return p, mem
}

func sample(p *Perf, words []uint64, data []byte) bool {
	return p.Sample(unsafe.Pointer(unsafe.SliceData(words)), uintptr(len(words)), unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data)))
}

// take reads a record as a program does.
func take(mem []byte) (kind uint32, rec []byte) {
	head, tail := binary.LittleEndian.Uint64(mem[perfHead:]), binary.LittleEndian.Uint64(mem[perfTail:])
	if head == tail {
		return 0, nil
	}
	size := uint64(len(mem) - perfPage)
	at := func(i uint64) byte { return mem[perfPage+(tail+i)%size] }
	n := uint64(at(6)) | uint64(at(7))<<8
	for i := range n {
		rec = append(rec, at(i))
	}
	binary.LittleEndian.PutUint64(mem[perfTail:], tail+n)
	return binary.LittleEndian.Uint32(rec), rec[8:]
}

// TestSamplesComeBack writes records of all sizes at all places, many times around.
func TestSamplesComeBack(t *testing.T) {
	p, mem := perfOf(t)
	for i := range 5000 {
		data := pattern(uint64(i), 8+i*13%1500)
		if !sample(p, []uint64{uint64(i), ^uint64(i)}, data) {
			t.Fatalf("record %d does not fit into an empty ring", i)
		}
		kind, rec := take(mem)
		n := int(binary.LittleEndian.Uint32(rec[16:]))
		if kind != perfSample || binary.LittleEndian.Uint64(rec) != uint64(i) || len(rec)%8 != 0 || n+20 != len(rec) || !bytes.Equal(rec[20:20+len(data)], data) {
			t.Fatalf("record %d: kind %d, %x", i, kind, rec)
		}
	}
}

// TestSampleWithoutData has words only.
func TestSampleWithoutData(t *testing.T) {
	p, mem := perfOf(t)
	p.Sample(unsafe.Pointer(&[]uint64{5, 6}[0]), 2, nil, 0)
	if kind, rec := take(mem); kind != perfSample || len(rec) != 16 || rec[0] != 5 || rec[8] != 6 {
		t.Errorf("kind %d, %x", kind, rec)
	}
}

// TestOldestAreOverwritten: without a reader, the last records are there.
func TestOldestAreOverwritten(t *testing.T) {
	p, mem := perfOf(t)
	if err := p.SetMemory(mem, true); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(2000) {
		if !sample(p, []uint64{i}, pattern(i, 100)) {
			t.Fatalf("record %d does not fit", i)
		}
	}
	const size, n = 8 + 8 + 104, perfPage / (8 + 8 + 104)
	binary.LittleEndian.PutUint64(mem[perfTail:], binary.LittleEndian.Uint64(mem[perfHead:])-n*size)
	for i := uint64(2000 - n); i < 2000; i++ {
		if kind, rec := take(mem); kind != perfSample || binary.LittleEndian.Uint64(rec) != i || !bytes.Equal(rec[12:112], pattern(i, 100)) {
			t.Fatalf("record %d: kind %d, %x", i, kind, rec)
		}
	}
}

// TestLossesAreSaid: what did not fit is said before the next record, once.
func TestLossesAreSaid(t *testing.T) {
	p, mem := perfOf(t)
	fit := 0
	for range 100 {
		if sample(p, nil, make([]byte, 84)) {
			fit++
		}
	}
	if fit != 4096/96 {
		t.Errorf("%d records fit", fit)
	}
	for range fit {
		if kind, _ := take(mem); kind != perfSample {
			t.Fatal(kind)
		}
	}
	sample(p, nil, []byte("next"))
	kind, rec := take(mem)
	if kind != perfLost || binary.LittleEndian.Uint64(rec) != 7 || binary.LittleEndian.Uint64(rec[8:]) != uint64(100-fit) {
		t.Errorf("kind %d, %x", kind, rec)
	}
	if kind, rec = take(mem); kind != perfSample || string(rec[4:8]) != "next" {
		t.Errorf("kind %d, %x", kind, rec)
	}
	if written, lost := p.Counts(); written != uint64(fit)+1 || lost != uint64(100-fit) {
		t.Error(written, lost)
	}
}

// TestAnyTailIsBorne: the program can write anything where the reader's position is.
func TestAnyTailIsBorne(t *testing.T) {
	p, mem := perfOf(t)
	for i := range uint64(3000) {
		binary.LittleEndian.PutUint64(mem[perfTail:], i*0x9e3779b97f4a7c15)
		sample(p, []uint64{1}, pattern(i, 8+int(i%200)))
	}
	if sample(p, nil, make([]byte, 1<<16)) {
		t.Error("a record of 64 KiB fits")
	}
}

func TestMemoryThatIsNone(t *testing.T) {
	p := &Perf{}
	if sample(p, nil, []byte("x")) || p.Poll() != 0 {
		t.Error("a ring without memory takes records")
	}
	for _, n := range []int{1, perfPage, perfPage + 100, 4 * perfPage} {
		if err := p.SetMemory(make([]byte, n), false); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
