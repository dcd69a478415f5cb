package space

import (
	"sonde/kernel/mm/backing"

	"fmt"
	"io"
)

// An Area is an area as /proc/PID/maps shows it.
type Area struct {
	Start, End uint64
	Prot       Prot
	Shared     bool
	Offset     uint64
	Ident      backing.Ident
}

// Areas returns the areas, sorted by address.
func (s *Space) Areas() []Area {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Area, len(s.areas.areas))
	for i := range s.areas.areas {
		all[i] = s.areas.areas[i].shown()
	}
	return all
}

func (a *area) shown() Area {
	as := Area{a.start, a.end, a.prot, a.flags&Shared != 0, a.off, backing.Ident{Name: a.name}}
	if a.back != nil {
		as.Ident = a.back.Ident()
	} else if a.flags&GrowsDown != 0 {
		as.Ident.Name = "[stack]"
	}
	return as
}

// At returns the area that contains addr.
func (s *Space) At(addr uint64) (Area, bool) {
	for _, a := range s.Areas() {
		if addr >= a.Start && addr < a.End {
			return a, true
		}
	}
	return Area{}, false
}

// Mapped reports whether areas cover everything from start to end.
func (s *Space) Mapped(start, end uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.areas.covered(start, end)
}

// Maps reports whether b is mapped at addr.
func (s *Space) Maps(addr uint64, b backing.Store) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.areas.at(addr)
	return a != nil && a.back == b
}

// WriteTo writes /proc/PID/maps.
//
// Source: Linux, proc_pid_maps(5).
func (s *Space) WriteTo(w io.Writer) (n int64, err error) {
	for _, a := range s.Areas() {
		k, err := io.WriteString(w, a.String()+"\n")
		if n += int64(k); err != nil {
			return n, err
		}
	}
	return n, nil
}

// String is a line of /proc/PID/maps.
func (a Area) String() string {
	mode := []byte("---p")
	for i, p := range []Prot{Read, Write, Exec} {
		if a.Prot&p != 0 {
			mode[i] = "rwx"[i]
		}
	}
	if a.Shared {
		mode[3] = 's'
	}
	id := a.Ident
	// The device is 12 bits of major number and 20 of minor, as the kernel keeps it.
	line := fmt.Sprintf("%08x-%08x %s %08x %02x:%02x %d ", a.Start, a.End, mode, a.Offset, id.Dev>>20, id.Dev&(1<<20-1), id.Inode)
	if id.Name == "" {
		return line
	}
	return fmt.Sprintf("%-73s%s", line, id.Name)
}

// Usage is how much memory a space uses, in bytes.
type Usage struct {
	Total, Peak uint64 // of areas
	Resident    uint64 // frames in memory
	Tables      uint64 // page tables
	Data        uint64 // private areas that may be written
	Stack, Exec uint64 // areas that grow down; that may be executed
	Locked      uint64 // locked areas
}

// Usage returns the memory that s uses.
func (s *Space) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := Usage{Total: s.total, Peak: s.peak, Resident: uint64(s.resident) * PageSize, Tables: uint64(s.tables) * PageSize}
	for i := range s.areas.areas {
		a := &s.areas.areas[i]
		n := a.end - a.start
		if a.flags&Locked != 0 {
			u.Locked += n
		}
		switch {
		case a.flags&GrowsDown != 0:
			u.Stack += n
		case a.prot&Write != 0 && a.flags&Shared == 0:
			u.Data += n
		case a.prot&Exec != 0:
			u.Exec += n
		}
	}
	return u
}

// Layout is where the parts of a program are in its memory, for /proc.
type Layout struct {
	CodeStart, CodeEnd, StackStart     uint64
	ArgStart, ArgEnd, EnvStart, EnvEnd uint64 // the strings
	Auxv                               []byte // the auxiliary vector as it was at the start
}
