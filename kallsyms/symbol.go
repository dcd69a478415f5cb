package kallsyms

import (
	"fmt"
	"io"
	"iter"
	"strings"
)

// Symbol is one entry of the table.
type Symbol struct {
	Name string
	Addr uint64
	Size uint64 // in bytes; 0 when even the next symbol does not tell
	Type byte   // the letter nm prints: T text, R read-only, D data, B bss; lower case when local
}

// IsText reports whether the symbol names code.
func (s Symbol) IsText() bool { return class(s.Type) == 'T' }

// End returns the first address after the symbol.
func (s Symbol) End() uint64 { return s.Addr + s.Size }

// class folds the letter of a local symbol into that of a global one.
func class(t byte) byte {
	if 'a' <= t && t <= 'z' {
		return t - 'a' + 'A'
	}
	return t
}

// Text calls yield for each symbol that names code in the order of addresses until yield returns false.
func (t *Table) Text(yield func(Symbol) bool) {
	for i := range t.n {
		if class(t.kind(i)) == 'T' && !yield(t.symbol(i)) {
			return
		}
	}
}

// WriteTo renders the table as Linux's /proc/kallsyms does: one line
// "%016x %c %s" per symbol, in the order of addresses.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	const flushAt = 16 << 10
	var total int64
	buf := make([]byte, 0, flushAt+512)
	for i := range t.n {
		buf = appendLine(buf, t.addr(i), t.kind(i), t.name(i))
		if len(buf) < flushAt && i != t.n-1 {
			continue
		}
		n, err := w.Write(buf)
		total += int64(n)
		if err != nil {
			return total, err
		}
		buf = buf[:0]
	}
	return total, nil
}

func appendLine(buf []byte, addr uint64, kind byte, name string) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		buf = append(buf, hexDigits[addr>>shift&15])
	}
	buf = append(buf, ' ', kind, ' ')
	buf = append(buf, name...)
	return append(buf, '\n')
}

// Named returns the symbols whose names begin with prefix, in the order of their
// names.
func (t *Table) Named(prefix string) iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		for i := t.searchName(prefix); i < t.n; i++ {
			if s := t.symbol(t.byName(i)); !strings.HasPrefix(s.Name, prefix) || !yield(s) {
				return
			}
		}
	}
}

// Where says as lists do where an address of the kernel is: name+0x12; the number if that is in no symbol.
func Where(addr uint64) string {
	name, off, _, ok := Lookup(addr)
	if !ok {
		return fmt.Sprintf("%#x", addr)
	}
	return fmt.Sprintf("%s+%#x", name, off)
}
