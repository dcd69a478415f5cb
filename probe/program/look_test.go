package program

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"sonde/bpf"
)

// TestChangingEntryIsNotFound: an entry that has changed between the look at its state and that at its key is another
// use of its place, whose value may not be written yet. It is looked for until that has happened.
func TestChangingEntryIsNotFound(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // so that also one processor leaves a look anywhere
	for _, size := range []uint32{8, 16} {
		m := newMap(t, bpf.MapSpec{Type: bpf.Hash, KeySize: size, ValueSize: 8, MaxEntries: 1})
		key := make([]byte, size)
		binary.LittleEndian.PutUint64(key, 5)
		if err := m.Update(0, key, key8(6), Any); err != nil {
			t.Fatal(err)
		}
		at, of := unsafe.Pointer(unsafe.SliceData(key)), (*table)(m.table(0))
		e := m.findEntry(of, at)
		w := e.word.Load()
		var over atomic.Bool
		done := make(chan bool)
		go func() {
			defer close(done)
			for n := uint64(1); !over.Load(); n++ {
				e.word.Store(w + n*(stateMask+1)) // full, as before
			}
		}()
		for n := 0; m.findEntry(of, at) != nil; n++ {
			if n == 1<<30 {
				t.Errorf("keys of %d bytes: each look finds the entry, however it changes", size)
				break
			}
		}
		over.Store(true)
		<-done
		e.word.Store(w)
		m.Close()
	}
}
