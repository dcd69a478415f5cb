package die

import (
	"strconv"
	"sync/atomic"
	"unsafe"
)

// appendEssence appends what a crash shows as a code: a line with the checksum of the symbol table; one with the address
// of the instruction and SP; one with the addresses to which the calls would have returned, innermost first; and why. Only
// the last has no fixed length. All numbers are hexadecimal. The launcher's -decode reads it.
//
// Context: trap. It allocates nothing if b has room.
func appendEssence(b []byte, sum uint32, ip, sp uint64, callers []uintptr, why string) []byte {
	b = append(b, "sonde "...)
	b = strconv.AppendUint(b, uint64(sum), 16)
	b = append(b, '\n')
	b = strconv.AppendUint(b, ip, 16)
	b = append(b, ' ')
	b = strconv.AppendUint(b, sp, 16)
	b = append(b, '\n')
	for i, pc := range callers {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, uint64(uint32(pc)), 16)
	}
	b = append(b, '\n')
	return append(b, why...)
}

// said is the last line of what the Go runtime has printed that says why it ends. CPUs that print at the same time may mix
// their lines: each index is read once, so that it is within bounds.
type said struct {
	line, last [100]byte
	n, kept    int32
}

var runtimeSaid said

// Say takes a byte that the Go runtime prints.
//
// Context: any; nosplit.
//
//go:nosplit
func Say(c byte) { runtimeSaid.put(c) }

//go:nosplit
func (s *said) put(c byte) {
	n := atomic.LoadInt32(&s.n)
	if c != '\n' {
		if int(n) < len(s.line) {
			s.line[n] = c
			atomic.StoreInt32(&s.n, n+1)
		}
		return
	}
	if s.begins(n, "panic: ") || s.begins(n, "fatal error: ") {
		s.last, s.kept = s.line, n
	}
	atomic.StoreInt32(&s.n, 0)
}

//go:nosplit
func (s *said) begins(n int32, with string) bool {
	if int(n) < len(with) {
		return false
	}
	for i := range len(with) {
		if s.line[i] != with[i] {
			return false
		}
	}
	return true
}

// text returns the line, "" if there is none. It is good until the next byte.
//
// Context: any.
func (s *said) text() string { return unsafe.String(&s.last[0], s.kept) }
