package sock

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"sonde/kernel/abi"
)

// Print writes /proc/net/unix.
//
// Source: Linux, man proc(5), "/proc/net/unix".
func Print(w io.Writer) {
	all := enlisted()
	slices.SortFunc(all, func(a, b *Socket) int { return cmp.Compare(a.Stat().Ino, b.Stat().Ino) })
	io.WriteString(w, "Num       RefCount Protocol Flags    Type St Inode Path\n")
	for _, s := range all {
		if s.family == abi.AF_UNIX {
			io.WriteString(w, s.line())
		}
	}
}

// Values that /proc/net/unix shows: the flag of a listening socket, and the state of the
// connection.
const (
	acceptsFlag    = 1 << 16
	unconnectedNum = 1
	connectedNum   = 3
)

// line is the line of s.
func (s *Socket) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	flags, num := 0, unconnectedNum
	switch s.state {
	case listening:
		flags = acceptsFlag
	case connected:
		num = connectedNum
	}
	name := s.addr.Name
	if name != "" {
		name = " " + strings.ReplaceAll(name, "\x00", "@")
	}
	return fmt.Sprintf("%016x: %08X %08X %08X %04X %02X %5d%s\n", 0, 2, 0, flags, int(s.kind), num, s.Stat().Ino, name)
}
