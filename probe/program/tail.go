package program

import (
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/kernel/refusal"
)

// Program arrays: at each index a word for each view of registers (version), where the program is entered
// that has this view; 0: there is none. A program that continues as another one stays with its view.

// A family is the programs that can continue as each other: they find the same context.
type family struct {
	kind     bpf.Type
	function string // of Tracing programs
	returns  bool
}

func (p *Prog) family() family {
	f := family{kind: p.Type()}
	if p.Function != nil {
		f.function, f.returns = p.Function.Name, p.Function.Returns
	}
	return f
}

func (f family) String() string {
	switch {
	case f.function == "":
		return f.kind.String() + " programs"
	case f.returns:
		return f.kind.String() + " programs for returns of " + f.function
	}
	return f.kind.String() + " programs for calls of " + f.function
}

// families is held while programs join arrays: each joins all of its own or none. Locked after the mu of a map.
var families sync.Mutex

// joins has the program arrays among maps be for programs of p's family, for good; none of them, if one is for
// others.
//
// Errors: EINVAL.
func (p *Prog) joins(maps ...*Map) error {
	families.Lock()
	defer families.Unlock()
	f := p.family()
	for _, m := range maps {
		if m.family != nil && *m.family != f {
			return refusal.New(syscall.EINVAL, "map %s is for %s, and %s is one of the %s", m.Spec.Name, m.family, p.Checked.Program.Name, f)
		}
	}
	for _, m := range maps {
		if m.is(bpf.ProgArray) {
			m.family = &f
		}
	}
	return nil
}

// PutProg has programs that continue as the one at an index continue as p; nil: as none. The array holds p. It is
// emptied when nothing holds the array any more but programs.
//
// Errors: EINVAL the map is another kind, or for other programs; E2BIG there is no such index; ENOENT there is
// nothing that could be taken away; EBADF the map or p is gone; those of compile.
//
// Context: goroutine, not a handler.
func (m *Map) PutProg(at uint32, p *Prog) error {
	if !m.is(bpf.ProgArray) {
		return refusal.New(syscall.EINVAL, "map %s is of type %s: only a %s has programs", m.Spec.Name, m.Spec.Type, bpf.ProgArray)
	}
	entries, err := p.entries()
	if err != nil {
		return err
	}
	old, err := m.swap(at, p, entries)
	if err != nil {
		old = p
	}
	old.release()
	return err
}

// views is how many views of registers there are.
const views = maxSkip + 2

// entries holds a program, and returns where tail calls enter it, by the view; of nil that is nowhere.
func (p *Prog) entries() (at [views]uintptr, err error) {
	if p == nil {
		return at, nil
	}
	if err := p.keep(1); err != nil {
		return at, err
	}
	p.mu.Lock()
	for i := range at {
		v, fault := p.of(kernels + i)
		if err = fault; err != nil {
			break
		}
		at[i] = v.tail
	}
	p.mu.Unlock()
	if err != nil {
		p.release()
	}
	return at, err
}

// release ends the hold of an array. Called without the mu of the array: what the program has goes with it.
func (p *Prog) release() {
	if p != nil {
		p.keep(-1)
	}
}

// swap puts a program into the array, and returns the one that was there.
func (m *Map) swap(at uint32, p *Prog, entries [views]uintptr) (old *Prog, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.memory == nil || m.closed && m.held == 0:
		return nil, refusal.New(syscall.EBADF, "map %s is closed", m.Spec.Name)
	case at >= m.Spec.MaxEntries:
		return nil, refusal.New(syscall.E2BIG, "map %s: there is no index %d", m.Spec.Name, at)
	case p == nil && m.progs[at] == nil:
		return nil, refusal.New(syscall.ENOENT, "map %s: there is nothing at %d", m.Spec.Name, at)
	case p != nil:
		if err := p.joins(m); err != nil {
			return nil, err
		}
	}
	old = m.progs[at]
	for i, entry := range entries {
		// Safe because: a program stays for a grace period after it has left the array.
		(*atomic.Uint64)(unsafe.Add(m.base, uintptr(at)*m.stride+uintptr(i)*wordSize)).Store(uint64(entry))
	}
	if m.progs == nil {
		m.progs = map[uint32]*Prog{}
	}
	if m.progs[at] = p; p == nil {
		delete(m.progs, at)
	}
	return old, nil
}

// ProgAt returns the program at an index of a program array; nil: there is none.
func (m *Map) ProgAt(at uint32) *Prog {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.progs[at]
}

// Family is which programs a program array is for; false: none has used it yet.
func (m *Map) Family() (kind bpf.Type, ok bool) {
	families.Lock()
	defer families.Unlock()
	if m.family == nil {
		return 0, false
	}
	return m.family.kind, true
}

// abandon empties a program array that nothing holds but programs, which may be those in it. The caller releases
// them. Called with mu held.
func (m *Map) abandon() (left []*Prog) {
	if !m.closed || m.held > 0 {
		return nil
	}
	for at, p := range m.progs {
		for i := range views {
			(*atomic.Uint64)(unsafe.Add(m.base, uintptr(at)*m.stride+uintptr(i)*wordSize)).Store(0)
		}
		left = append(left, p)
	}
	m.progs = nil
	return left
}
