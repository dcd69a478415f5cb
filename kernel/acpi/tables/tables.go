// Package tables reads all ACPI tables of a machine for people: as bytes, like acpidump,
// and in words those that describe a board's parts.
//
// The kernel itself uses package acpi, long before. Here the Go runtime is up, and memory
// comes from an io.ReaderAt, so the tables may lie anywhere. Firmware is not trusted: a
// length is checked before it is used, and a field outside its table is reported as
// missing.
//
// Source: ACPI Specification 6.5, chapter 5 "ACPI Software Programming Model".
package tables

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"syscall"

	"sonde/kernel/refusal"
)

const (
	headSize  = 36      // of the header that every table but the FACS begins with
	maxTable  = 4 << 20 // bytes; larger is taken for damage
	maxTables = 256     // that the root lists
)

// Table is one table.
type Table struct {
	Signature string
	Addr      uint64 // physical
	Data      []byte // header included
}

// Read returns the tables that the root table at physical address root lists, in order, and
// those that the FADT names. wide says that root is an XSDT. A table that cannot be read
// is left out, and the error tells of it.
//
// Errors: EIO the root table, or one that it lists, is damaged or nowhere; and those of mem.
func Read(mem io.ReaderAt, root uint64, wide bool) (all []Table, err error) {
	top, err := read(mem, root)
	if err != nil {
		return nil, err
	}
	all = append(all, top)
	width := 4
	if wide {
		width = 8
	}
	add := func(addr uint64) {
		if addr == 0 || len(all) > maxTables {
			return
		}
		t, readErr := read(mem, addr)
		if readErr != nil {
			err = readErr
			return
		}
		all = append(all, t)
		if t.Signature == "FACP" {
			for _, at := range t.fromFADT() {
				if t, readErr := read(mem, at); readErr == nil {
					all = append(all, t)
				} else {
					err = readErr
				}
			}
		}
	}
	for off := headSize; off+width <= len(top.Data); off += width {
		addr, _ := top.number(off, width)
		add(addr)
	}
	return all, err
}

// read reads the table at addr.
func read(mem io.ReaderAt, addr uint64) (Table, error) {
	wrong := func(why string) (Table, error) {
		return Table{}, refusal.New(syscall.EIO, "acpi: table at %#x: %s", addr, why)
	}
	var head [8]byte
	if addr>>63 != 0 {
		return wrong("no address")
	}
	if _, err := mem.ReadAt(head[:], int64(addr)); err != nil {
		return Table{}, fmt.Errorf("acpi: table at %#x: %w", addr, err)
	}
	for _, c := range head[:4] {
		if c < ' ' || c > '~' {
			return wrong("it has no name")
		}
	}
	t := Table{Signature: string(head[:4]), Addr: addr}
	size := binary.LittleEndian.Uint32(head[4:])
	if size < headSize || size > maxTable {
		return wrong(fmt.Sprintf("%s has an impossible length of %d bytes", t.Signature, size))
	}
	t.Data = make([]byte, size)
	if _, err := mem.ReadAt(t.Data, int64(addr)); err != nil {
		return Table{}, fmt.Errorf("acpi: %s at %#x: %w", t.Signature, addr, err)
	}
	return t, nil
}

// fromFADT returns where the FADT says that FACS and DSDT are; the fields of 64 bits count
// where they are not 0.
func (t Table) fromFADT() (at []uint64) {
	for _, field := range [][2]int{{36, 132}, {40, 140}} {
		addr, _ := t.number(field[1], 8)
		if addr == 0 {
			addr, _ = t.number(field[0], 4)
		}
		if addr != 0 {
			at = append(at, addr)
		}
	}
	return at
}

// number reads a field of 1, 2, 4 or 8 bytes; not ok if it is not inside the table.
func (t Table) number(off, size int) (n uint64, ok bool) {
	if off < 0 || off+size > len(t.Data) {
		return 0, false
	}
	for i := size - 1; i >= 0; i-- {
		n = n<<8 | uint64(t.Data[off+i])
	}
	return n, true
}

// text is a field of n characters, without what fills it up.
func (t Table) text(off, n int) string {
	end := min(off+n, len(t.Data))
	b := t.Data[min(off, end):end]
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == 0) {
		b = b[:len(b)-1]
	}
	quoted := strconv.QuoteToASCII(string(b))
	return quoted[1 : len(quoted)-1]
}

// sum is what all bytes add up to: 0 if the table is as firmware made it. A FACS has no checksum.
func (t Table) sum() (sum byte) {
	if t.Signature == "FACS" {
		return 0
	}
	for _, c := range t.Data {
		sum += c
	}
	return sum
}

// Names returns what the tables are called below /sys/firmware/acpi/tables: by their
// signatures, with a number after it where several have the same.
func Names(all []Table) []string {
	total, seen := map[string]int{}, map[string]int{}
	for _, t := range all {
		total[t.Signature]++
	}
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Signature
		if seen[t.Signature]++; total[t.Signature] > 1 {
			names[i] += strconv.Itoa(seen[t.Signature])
		}
	}
	return names
}
