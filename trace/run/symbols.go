package run

import (
	"encoding/binary"
	"fmt"
	"strings"

	"sonde/bpf"
	"sonde/kallsyms"
	"sonde/probe/types"
	"sonde/trace/lang"
)

// Users names addresses of programs; pid 0: of any process that has been seen.
type Users interface {
	Name(addr uint64, pid int) (at kallsyms.Named, ok bool)
	// Area is what a process has mapped at an address.
	Area(addr uint64, pid int) (name string, ok bool)
}

// Variable is part of out.Symbols.
func (s *session) Variable(addr uint64, of string, stack []uint64) string {
	return types.Variable(addr, of, stack)
}

// Area is part of out.Symbols.
func (s *session) Area(addr uint64, pid int) string {
	if s.Users != nil {
		if name, ok := s.Users.Area(addr, pid); ok {
			return name
		}
	}
	return fmt.Sprintf("%#x", addr)
}

// Name is part of out.Symbols: of a function of the kernel, its name without the path; of one of a program,
// that of the process whose stack was asked for last.
func (s *session) Name(addr uint64, user bool) kallsyms.Named {
	user = user && int64(addr) >= 0 // the upper half is the kernel's in each process
	if user && s.Users != nil {
		if at, ok := s.Users.Name(addr, s.pid); ok {
			return at
		}
	}
	if !user {
		for back := range uint64(2) { // IP is after a breakpoint, which may be all that a function has
			if name, offset, _, ok := kallsyms.Lookup(addr - back); ok {
				return kallsyms.Named{Name: shown(name), Offset: offset + back, Function: true}
			}
		}
	}
	return kallsyms.Named{Name: fmt.Sprintf("%#x", addr)}
}

// shown is a function's name without the path, and without the types that it was made for, which may take
// hundreds of columns: as traces of Go show it.
func shown(name string) string {
	var b strings.Builder
	depth := 0
	for _, c := range kallsyms.Base(name) {
		if c == ']' {
			depth--
		}
		if depth == 0 {
			b.WriteRune(c)
		}
		if c == '[' {
			if depth++; depth == 1 {
				b.WriteString("...")
			}
		}
	}
	return b.String()
}

// Stack is part of out.Symbols. The high half of a program's is the process's number.
func (s *session) Stack(t lang.Type, id int64) (addrs []uint64) {
	if s.pid = 0; t.User && id > 0 {
		s.pid = int(id >> 32)
	}
	for i, spec := range s.Unit.Specs {
		if spec.Type != bpf.StackTrace || int(spec.ValueSize) != 8*t.Depth {
			continue
		}
		value := make([]byte, spec.ValueSize)
		if s.maps[i].Lookup(0, binary.LittleEndian.AppendUint32(nil, uint32(id)), value) != nil {
			return nil
		}
		for ; len(value) >= 8; value = value[8:] {
			if addr := binary.LittleEndian.Uint64(value); addr != 0 {
				addrs = append(addrs, addr)
			}
		}
	}
	return addrs
}
