package kbpf

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// list is the programs that are loaded.
var list programs

type programs struct {
	mu     sync.Mutex // held by those who change it
	lastID int        // guarded by mu
	all    atomic.Pointer[[]*Prog]
}

func (l *programs) get() []*Prog {
	if p := l.all.Load(); p != nil {
		return *p
	}
	return nil
}

func (l *programs) add(p *Prog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	p.ID = l.lastID
	all := append(slices.Clone(l.get()), p)
	l.all.Store(&all)
}

func (l *programs) remove(p *Prog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(l.get()), func(o *Prog) bool { return o == p })
	l.all.Store(&all)
}

// Programs returns what is loaded, in the order in which it was.
func Programs() []*Prog { return slices.Clone(list.get()) }

// Find returns the program with an ID, nil if there is none.
func Find(id int) *Prog {
	for _, p := range list.get() {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// WriteSymbols prints the programs' code, as /proc/kallsyms has it.
func WriteSymbols(w io.Writer) {
	for _, p := range list.get() {
		fmt.Fprintf(w, "%016x t %s\n", p.entry, p.name)
	}
}

// codeAt returns the start and the name of the code that addr is in; 0: none.
//
// Context: any.
func codeAt(addr uintptr) (start uintptr, name string) {
	for _, p := range list.get() {
		if addr-p.entry < uintptr(len(p.image.Code)) {
			return p.entry, p.name
		}
	}
	return 0, ""
}

// InUse returns how many bytes all maps take.
func InUse() int64 { return memory.inUse() }
