package proc

import (
	"encoding/binary"

	"sonde/kernel/abi"
	"sonde/linux/futex"
	"sonde/linux/space"
)

// Futexes returns the queues of all threads.
func (t *Table) Futexes() *futex.Table[space.Key] { return t.futexes }

// releaseFutexes wakes threads that wait for an ended thread, or for a lock that it held.
// It ignores memory that it cannot read.
//
// Context: t's goroutine.
func (t *Thread) releaseFutexes() {
	mem := t.Memory()
	if mem == nil {
		return
	}
	if at := t.robust.Swap(0); at != 0 {
		t.releaseRobust(mem, at)
	}
	if t.clearTID != 0 && mem.users.Load()+int32(t.process.threadCount()) > 2 {
		if mem.Store32(t.clearTID, 0) == nil {
			t.wake(mem, t.clearTID, 1)
		}
	}
	t.clearTID = 0
}

func (p *Process) threadCount() int {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return len(p.threads)
}

func (t *Thread) wake(mem *Memory, addr uint64, n int) {
	t.process.table.futexes.Wake(mem.Key(addr), n, abi.FUTEX_BITSET_ALL)
}

// robustMost is how far a robust list is followed: it may be circular.
const robustMost = 2048

// releaseRobust marks the locks of a robust list as those of a dead owner.
// Source: Linux, "Documentation/locking/robust-futex-ABI".
func (t *Thread) releaseRobust(mem *Memory, at uint64) {
	var head abi.RobustListHead
	if mem.In(abi.Bytes(&head), at) != nil {
		return
	}
	entry := head.List
	for n := 0; entry != at && n < robustMost; n++ {
		next, err := loadWord(mem, entry&^1)
		if entry != head.Pending {
			t.ownerDied(mem, entry&^1+uint64(head.Offset))
		}
		if err != nil {
			return
		}
		entry = next
	}
	if head.Pending != 0 {
		t.ownerDied(mem, head.Pending&^1+uint64(head.Offset))
	}
}

func loadWord(mem *Memory, addr uint64) (uint64, error) {
	var b [8]byte
	err := mem.In(b[:], addr)
	return binary.LittleEndian.Uint64(b[:]), err
}

// ownerDied marks one lock, if t holds it, and wakes one that waits for it.
func (t *Thread) ownerDied(mem *Memory, addr uint64) {
	for {
		v, err := mem.Load32(addr)
		if err != nil || v&abi.FUTEX_TID_MASK != uint32(t.TID) {
			return
		}
		done, err := mem.CompareAndSwap32(addr, v, v&abi.FUTEX_WAITERS|abi.FUTEX_OWNER_DIED)
		if err != nil {
			return
		}
		if done {
			if v&abi.FUTEX_WAITERS != 0 {
				t.wake(mem, addr, 1)
			}
			return
		}
	}
}
