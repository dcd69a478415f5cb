package run

import (
	"encoding/binary"
	"fmt"
	"strings"

	"sonde/bpf"
	"sonde/kallsyms"
	"sonde/trace/lang"
)

// Users names addresses of programs; pid 0: of any process that has been seen.
type Users interface {
	Name(addr uint64, pid int) (name string, offset uint64, ok bool)
}

// Name is part of out.Symbols: of a function of the kernel, its name without the path; of one of a program,
// that of the process whose stack was asked for last.
func (s *session) Name(addr uint64, user bool) (name string, offset uint64) {
	if user && s.Users != nil {
		if name, offset, ok := s.Users.Name(addr, s.pid); ok {
			return name, offset
		}
	}
	if name, offset, _, ok := kallsyms.Lookup(addr); ok && !user {
		path, _, _ := strings.Cut(name, "[")
		return name[strings.LastIndexByte(path, '/')+1:], offset
	}
	return fmt.Sprintf("%#x", addr), 0
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
