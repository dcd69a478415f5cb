package event

import (
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/attach"
)

// A Source is a tracepoint with a number.
type Source struct {
	Name    string  // SYSTEM:NAME
	Fields  []Field // beyond those that all have
	Print   string  // how Linux prints its record, as the file format says
	Size    int     // of its record, in bytes
	Sites   []attach.Site
	Through func(h *attach.Hit, program attach.Handler) (called bool) // calls a program with the record of a hit in Data; nil: it is there
}

// A Param is a parameter of a system call as Linux's tracepoints have it. Also are its other names, such as the manual's.
type Param struct {
	Type, Name string
	Also       []string
}

// A Family is tracepoints that another package has, with numbers from First on.
type Family struct {
	First  uint64
	List   func() []string // their names
	ByName func(name string) (id uint64, ok bool)
	ByID   func(id uint64) (Source, error)
}

var families []Family

// Register adds a family; the next begins after its numbers.
//
// Context: boot.
func Register(f Family) { families = append(families, f) }

// Place says which function's calls a tracepoint is that has no place in the table: the package that has the
// function knows it. Until then, the tracepoint is not there.
//
// Context: boot.
func Place(name, function string) {
	for _, e := range events {
		if e.String() == name {
			e.places = []string{function}
			return
		}
	}
	panic("event: there is no tracepoint " + name)
}

// Numbered finds the tracepoint with a number.
//
// Errors: ENOENT.
func Numbered(id uint64) (Source, error) {
	if e := ByID(int(id)); e != nil {
		return Source{Name: e.String(), Fields: e.Fields, Print: e.printed(), Size: e.Size, Sites: []attach.Site{{Kind: attach.Event, Symbol: e.String()}}}, nil
	}
	for i := len(families) - 1; i >= 0; i-- {
		if f := families[i]; id >= f.First {
			return f.ByID(id)
		}
	}
	return Source{}, refusal.New(syscall.ENOENT, "there is no tracepoint %d", id)
}

// Named returns the number of a tracepoint; false: there is none of that name.
func Named(name string) (id uint64, ok bool) {
	for _, e := range All() {
		if e.String() == name {
			return uint64(e.ID), true
		}
	}
	for _, f := range families {
		if id, ok := f.ByName(name); ok {
			return id, true
		}
	}
	return 0, false
}

// Names are those of all tracepoints, as the file available_events has them.
func Names() (names []string) {
	for _, e := range All() {
		names = append(names, e.String())
	}
	for _, f := range families {
		names = append(names, f.List()...)
	}
	return names
}
