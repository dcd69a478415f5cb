package program

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// What there is, by its number.
var (
	allProgs registry[*Prog]
	allMaps  registry[*Map]
	allLinks registry[*Link]
)

// A registry has all objects of a kind, in the order of their numbers. It gives them numbers from 1; none is used
// twice.
type registry[T numbered] struct {
	mu     sync.Mutex          // held by those who change it
	lastID int                 // guarded by mu
	all    atomic.Pointer[[]T] // entries never change: what is removed is left out of a copy
}

type numbered interface {
	comparable
	id() *int
}

func (p *Prog) id() *int { return &p.ID }
func (m *Map) id() *int  { return &m.ID }
func (l *Link) id() *int { return &l.ID }

func (r *registry[T]) get() []T {
	if p := r.all.Load(); p != nil {
		return *p
	}
	return nil
}

func (r *registry[T]) add(o T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID++
	*o.id() = r.lastID
	all := append(r.get(), o) // after what others see of the slice
	r.all.Store(&all)
}

func (r *registry[T]) remove(o T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i, there := slices.BinarySearchFunc(r.get(), *o.id(), func(o T, id int) int { return *o.id() - id }); there {
		all := slices.Concat(r.get()[:i], r.get()[i+1:])
		r.all.Store(&all)
	}
}

// Programs returns what is loaded, in the order in which it was.
func Programs() []*Prog { return slices.Clone(allProgs.get()) }

// Maps returns all maps, in the order in which they were made.
func Maps() []*Map { return slices.Clone(allMaps.get()) }

// Links returns what programs are attached to, in the order in which they were.
func Links() []*Link { return slices.Clone(allLinks.get()) }

// WriteSymbols prints the programs' code, as /proc/kallsyms has it.
func WriteSymbols(w io.Writer) {
	for _, p := range allProgs.get() {
		fmt.Fprintf(w, "%016x t %s\n", p.entry, p.name)
	}
}

// codeAt returns the start and the name of the code that addr is in; 0: none.
//
// Context: any.
func codeAt(addr uintptr) (start uintptr, name string) {
	for _, p := range allProgs.get() {
		for _, v := range p.versions() {
			if start, ok := v.has(addr); ok {
				return start, p.name
			}
		}
	}
	return 0, ""
}

// InUse returns how many bytes all maps take.
func InUse() int64 { return memory.inUse() }
