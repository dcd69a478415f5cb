package proc

import (
	"sync/atomic"

	"sonde/linux/space"
)

// Memory is an address space and how many processes use it: more than one after
// vfork, and after clone with CLONE_VM.
type Memory struct {
	*space.Space
	users    atomic.Int32
	barriers atomic.Uint32 // see RegisterBarrier
	private  atomic.Bool   // see SetDumpable
}

func newMemory(s *space.Space) *Memory {
	m := &Memory{Space: s}
	m.users.Store(1)
	return m
}

func (m *Memory) hold() *Memory {
	m.users.Add(1)
	return m
}

func (m *Memory) drop() {
	if m.users.Add(-1) == 0 {
		m.Release()
	}
}

// In copies all of dst from addr in the program.
//
// Errors: EFAULT, ENOMEM.
func (m *Memory) In(dst []byte, addr uint64) error {
	_, err := m.CopyIn(dst, addr)
	return err
}

// Out copies all of src to addr in the program.
//
// Errors: EFAULT, ENOMEM; some of it may be there.
func (m *Memory) Out(addr uint64, src []byte) error {
	_, err := m.CopyOut(addr, src)
	return err
}

// fork is a copy for a new process.
func (m *Memory) fork() (*Memory, error) {
	s, err := m.Space.Fork()
	if err != nil {
		return nil, err
	}
	c := newMemory(s)
	c.barriers.Store(m.barriers.Load())
	c.private.Store(m.private.Load())
	return c, nil
}

// RegisterBarrier notes that a program of m will use a kind of membarrier. A fork inherits
// it; exec clears it.
func (m *Memory) RegisterBarrier(kind uint32) { m.barriers.Or(kind) }

// Barriers returns the kinds that have been registered.
func (m *Memory) Barriers() uint32 { return m.barriers.Load() }

// SetDumpable says whether a core file may have m. A fork inherits it; exec sets it.
func (m *Memory) SetDumpable(on bool) { m.private.Store(!on) }

// Dumpable returns it.
func (m *Memory) Dumpable() bool { return !m.private.Load() }
