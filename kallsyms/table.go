package kallsyms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync/atomic"
	"syscall"

	"sonde/kernel/refusal"
)

// ErrFormat says that a blob is not a symbol table of this version.
var ErrFormat = refusal.New(syscall.EINVAL, "not a sonde symbol table")

// Table reads a blob in place. It is immutable but for its aliases, and safe for any context; the
// blob must stay mapped and unchanged as long as the table or any name from it
// is in use.
type Table struct {
	n       int
	addrs   []byte
	entries []byte
	index   []byte
	names   []byte
	aliases aliases
}

// Sum is a checksum of the table: kernels of which it is the same have the same functions at the same addresses.
func (t *Table) Sum() (sum uint32) {
	for _, part := range [][]byte{t.addrs, t.entries, t.index, t.names} {
		sum = crc32.Update(sum, crc32.IEEETable, part)
	}
	return sum
}

// Load checks every number in blob, so that later lookups cannot go wrong, and
// returns a table that reads it in place.
//
// Errors: ErrFormat, wrapped with what is wrong.
func Load(blob []byte) (*Table, error) {
	if len(blob) < headerSize || string(blob[:len(magic)]) != magic {
		return nil, fmt.Errorf("kallsyms: load %d bytes: no magic: %w", len(blob), ErrFormat)
	}
	word := func(i int) uint64 {
		return uint64(binary.LittleEndian.Uint32(blob[len(magic)+4*i:]))
	}
	ver, n, names, total := word(0), word(1), word(2), word(3)
	if ver != version {
		return nil, fmt.Errorf("kallsyms: load: version %d, want %d: %w", ver, version, ErrFormat)
	}
	if total > uint64(len(blob)) || total != headerSize+n*(addrSize+entrySize+indexSize)+names {
		return nil, fmt.Errorf("kallsyms: load: %d symbols, %d of %d bytes: %w", n, total, len(blob), ErrFormat)
	}
	t := &Table{n: int(n)}
	rest := blob[headerSize:total:total]
	t.addrs, rest = rest[:n*addrSize], rest[n*addrSize:]
	t.entries, rest = rest[:n*entrySize], rest[n*entrySize:]
	t.index, t.names = rest[:n*indexSize], rest[n*indexSize:]
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("kallsyms: load: %w: %w", err, ErrFormat)
	}
	return t, nil
}

// check verifies what the accessors below rely on.
func (t *Table) check() error {
	for i := range t.n {
		if off, _, length := t.entry(i); off+length > len(t.names) {
			return fmt.Errorf("name of symbol %d ends at %d of %d", i, off+length, len(t.names))
		}
		if i > 0 && t.addr(i) < t.addr(i-1) {
			return fmt.Errorf("symbol %d at %#x is out of order", i, t.addr(i))
		}
		if t.byName(i) >= t.n {
			return fmt.Errorf("name index %d points to symbol %d of %d", i, t.byName(i), t.n)
		}
	}
	for i := 1; i < t.n; i++ {
		if t.name(t.byName(i)) < t.name(t.byName(i-1)) {
			return errors.New("name index is out of order")
		}
	}
	return nil
}

// Len returns the number of symbols.
func (t *Table) Len() int { return t.n }

func (t *Table) symbol(i int) Symbol {
	_, size, _ := t.entry(i)
	return Symbol{Name: t.name(i), Addr: t.addr(i), Size: size, Type: t.kind(i)}
}

// kernel is the table of the running image, set once at boot. Trap context
// reads it, hence the atomic pointer.
var kernel atomic.Pointer[Table]

// SetKernel makes t the table that the package-level functions use.
func SetKernel(t *Table) { kernel.Store(t) }

// Kernel returns the table of the running image, or nil before SetKernel.
func Kernel() *Table { return kernel.Load() }

// ErrNoTable says that the image carries no symbol table, or not yet.
var ErrNoTable = refusal.New(syscall.ENOENT, "no symbol table loaded")

// Resolve finds a kernel symbol as Table.Resolve does.
func Resolve(name string) (Symbol, error) {
	t := kernel.Load()
	if t == nil {
		return Symbol{}, fmt.Errorf("kallsyms: resolve %q: %w", name, ErrNoTable)
	}
	return t.Resolve(name)
}
