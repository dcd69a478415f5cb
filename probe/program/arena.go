package program

import (
	"math/bits"
	"sync"
	"syscall"
	"unsafe"

	"sonde/kernel/mm/frame"
	"sonde/kernel/refusal"
	"sonde/sysctl"
)

// Memory is how many bytes the maps may take.
var Memory = sysctl.NewRange("kernel.bpf_memory", 64<<20, 0, 1<<40, "bytes that the maps of programs may take in all")

// arena is where the maps' memory comes from: pages outside the Go heap. Small pieces share blocks; a
// large one is a range of its own.
type arena struct {
	take func(n int) ([]byte, error) // n bytes, a power of two, at least a block
	give func(mem []byte)

	mu sync.Mutex
	// guarded by mu:
	blocks []*block
	used   int64    // bytes of all pieces
	late   [][]byte // what was freed, and was still in a program: see collect
}

// memory is the maps'.
var memory = arena{take: takeRange, give: giveRange}

const (
	pageSize = frame.Size
	pages    = frame.BlockSize / pageSize
)

// block is memory for small pieces.
type block struct {
	mem  []byte
	used [pages]bool
	n    int // pages in use
}

// alloc returns n bytes, cleared, in whole pages.
//
// Errors: ENOMEM the maps would take more than Memory, or the machine has none.
func (a *arena) alloc(n int) (mem []byte, err error) {
	n = (n + pageSize - 1) / pageSize * pageSize
	a.mu.Lock()
	defer a.mu.Unlock()
	a.collect()
	if limit := Memory.Get(); int64(n) > limit-a.used {
		return nil, refusal.New(syscall.ENOMEM, "%d bytes for a map: the maps have %d of %d bytes (sysctl kernel.bpf_memory)", n, a.used, limit)
	}
	if n > frame.BlockSize {
		mem, err = a.take(1 << bits.Len(uint(n-1)))
	} else {
		mem, err = a.share(n)
	}
	if err != nil {
		return nil, refusal.New(syscall.ENOMEM, "%d bytes for a map: the machine has no more memory", n)
	}
	a.used += int64(n)
	mem = mem[:n]
	clear(mem)
	return mem, nil
}

// share returns pages of a block.
func (a *arena) share(n int) ([]byte, error) {
	for _, b := range a.blocks {
		if at, ok := b.find(n / pageSize); ok {
			return b.cut(at, n), nil
		}
	}
	mem, err := a.take(frame.BlockSize)
	if err != nil {
		return nil, err
	}
	b := &block{mem: mem}
	a.blocks = append(a.blocks, b)
	return b.cut(0, n), nil
}

// find returns where n free pages are.
func (b *block) find(n int) (at int, ok bool) {
	free := 0
	if n > pages-b.n {
		return 0, false
	}
	for i, used := range b.used {
		if free++; used {
			free = 0
		}
		if free == n {
			return i + 1 - n, true
		}
	}
	return 0, false
}

func (b *block) cut(at, n int) []byte {
	b.mark(at, n/pageSize, true)
	return b.mem[at*pageSize : at*pageSize+n : at*pageSize+n]
}

func (b *block) mark(at, n int, used bool) {
	for i := range n {
		b.used[at+i] = used
	}
	if used {
		b.n += n
	} else {
		b.n -= n
	}
}

// free takes back what alloc has returned.
func (a *arena) free(mem []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.late = append(a.late, mem)
	a.collect()
}

// collect gives up what no program has in its memory any more: an address space lets go of a map before its
// pages are out of its tables. Called with mu held.
func (a *arena) collect() {
	late := a.late
	a.late = nil
	for _, mem := range late {
		if inPrograms(mem) {
			a.late = append(a.late, mem)
		} else {
			a.giveUp(mem)
		}
	}
}

// giveUp frees memory that nothing uses. Called with mu held.
func (a *arena) giveUp(mem []byte) {
	a.used -= int64(len(mem))
	if len(mem) > frame.BlockSize {
		a.give(mem[:cap(mem)])
		return
	}
	for i, b := range a.blocks {
		// Safe because: only the addresses are compared.
		off := uintptr(unsafe.Pointer(unsafe.SliceData(mem))) - uintptr(unsafe.Pointer(unsafe.SliceData(b.mem)))
		if off >= uintptr(len(b.mem)) {
			continue
		}
		if b.mark(int(off/pageSize), len(mem)/pageSize, false); b.n == 0 {
			a.blocks = append(a.blocks[:i:i], a.blocks[i+1:]...)
			a.give(b.mem)
		}
		return
	}
}

// inUse returns how many bytes the maps take.
func (a *arena) inUse() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.collect()
	return a.used
}
