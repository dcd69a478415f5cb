package image

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sonde/kallsyms"
)

// MaxSize is the greatest size of an image in bytes, MaxTestSize that of one with tests: see "The image has a
// limit" in docs/costs.md.
const (
	MaxSize     = 24 << 20
	MaxTestSize = 32 << 20
)

const pageSize = 4096

var (
	// ErrLayout says that the linked file is not laid out as Finish needs it.
	ErrLayout = errors.New("unexpected ELF layout")
	// ErrSymbol says that a symbol Finish needs is missing or unfit.
	ErrSymbol = errors.New("unusable symbol")
	// ErrSize says that the image is larger than it may be.
	ErrSize = errors.New("image too large")
)

// Options name the symbols by which kernel and Finish find each other.
type Options struct {
	Test      bool   // it has tests: it may be larger
	Entry     string // 32-bit entry point; "" means "pvhentry"
	Multiboot string // the same for Multiboot2; "" means "multibootentry". A kernel without it gets no header
	SymtabVar string // 16-byte variable {addr, size uint64}; "" means "main.symtab"

	// EntriesVar is such a variable for the table of package kallsyms/entries,
	// "" means the one in that package. A kernel without it gets no table.
	EntriesVar string

	Initramfs []byte // an archive for the kernel's tree of files
}

// The same for the table of package gotypes, and for the archive.
const (
	typesVar     = "sonde/probe/types.image"
	initramfsVar = "main.initramfs"
)

func (o Options) withDefaults() Options {
	o.Entry = cmp.Or(o.Entry, "pvhentry")
	o.Multiboot = cmp.Or(o.Multiboot, "multibootentry")
	o.SymtabVar = cmp.Or(o.SymtabVar, "main.symtab")
	o.EntriesVar = cmp.Or(o.EntriesVar, "sonde/kallsyms/entries.image")
	return o
}

// Finish turns the linked file in into the bootable image out. The image
// appears at out only when it is complete.
//
// Errors: ErrLayout, ErrSymbol, ErrSize (wrapped with what and where); ErrTrap.
func Finish(in, out string, opts Options) error {
	raw, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("image: finish: %w", err)
	}
	done, err := finish(raw, opts.withDefaults())
	if err != nil {
		return fmt.Errorf("image: finish %s: %w", in, err)
	}
	if err := writeWhole(out, done); err != nil {
		return fmt.Errorf("image: finish: %w", err)
	}
	return nil
}

func finish(raw []byte, opts Options) ([]byte, error) {
	f, err := open(raw)
	if err != nil {
		return nil, err
	}
	entry, err := f.symbol(opts.Entry)
	if err != nil {
		return nil, err
	}
	table := kallsyms.Encode(f.kernelSymbols())
	if err := f.checkTraps(table); err != nil {
		return nil, err
	}
	addr := alignUp(f.memoryEnd(), pageSize)
	if err := f.patch(opts.SymtabVar, addr, uint64(len(table))); err != nil {
		return nil, err
	}
	symbols := table
	if table, err = f.appendTable(table, addr, opts.EntriesVar, 8, f.entries); err != nil {
		return nil, err
	}
	if table, err = f.appendTable(table, addr, typesVar, 1, func() ([]byte, error) { return f.types(symbols) }); err != nil {
		return nil, err
	}
	if table, err = f.appendTable(table, addr, initramfsVar, pageSize, func() ([]byte, error) { return opts.Initramfs, nil }); err != nil {
		return nil, err
	}
	if err := f.shrink(); err != nil {
		return nil, err
	}
	tableOff := f.appendAligned(table, pageSize)
	f.shareNames(symbols, tableOff)
	note := entryNote(physical(entry.Value))
	noteOff := f.appendAligned(note, 8)

	f.dropHeaders(elf.PT_GNU_STACK)
	f.progs = append(f.progs,
		elf.Prog64{
			Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R), Off: tableOff,
			Vaddr: addr, Filesz: uint64(len(table)), Memsz: uint64(len(table)), Align: pageSize,
		},
		elf.Prog64{
			Type: uint32(elf.PT_NOTE), Flags: uint32(elf.PF_R), Off: noteOff,
			Filesz: uint64(len(note)), Memsz: uint64(len(note)), Align: 4,
		})
	if err := f.writeHeaders(); err != nil {
		return nil, err
	}
	if err := f.putMultiboot(opts.Multiboot); err != nil {
		return nil, err
	}
	return f.data, CheckSize(int64(len(f.data)), opts.limit())
}

// appendTable puts a table after blob, which will be at addr, and its place in the variable called name. A kernel
// without the variable does not read the table, and gets none.
func (f *elfFile) appendTable(blob []byte, addr uint64, name string, align uint64, content func() ([]byte, error)) ([]byte, error) {
	if _, err := f.symbol(name); err != nil {
		return blob, nil
	}
	table, err := content()
	if err != nil || len(table) == 0 {
		return blob, err
	}
	blob = append(blob, make([]byte, alignUp(uint64(len(blob)), align)-uint64(len(blob)))...)
	err = f.patch(name, addr+uint64(len(blob)), uint64(len(table)))
	return append(blob, table...), err
}

func (o Options) limit() int64 {
	if o.Test {
		return MaxTestSize
	}
	return MaxSize
}

// CheckSize returns ErrSize if an image of so many bytes is larger than limit.
func CheckSize(size, limit int64) error {
	if size > limit {
		return fmt.Errorf("%d bytes, at most %d: %w", size, limit, ErrSize)
	}
	return nil
}

// entryNote is the note that makes a loader enter at addr.
//
// Source: Xen public headers, elfnote.h, XEN_ELFNOTE_PHYS32_ENTRY; QEMU
// hw/i386/x86.c, read_pvh_start_addr, reads a 64-bit descriptor.
func entryNote(addr uint64) []byte {
	const XEN_ELFNOTE_PHYS32_ENTRY = 18
	var b bytes.Buffer
	name := "Xen\x00"
	for _, v := range []uint32{uint32(len(name)), 8, XEN_ELFNOTE_PHYS32_ENTRY} {
		b.Write(binary.LittleEndian.AppendUint32(nil, v))
	}
	b.WriteString(name)
	b.Write(binary.LittleEndian.AppendUint64(nil, addr))
	return b.Bytes()
}

// writeWhole replaces path in one step, so that half an image is never booted.
func writeWhole(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(0o755), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func alignUp(v, to uint64) uint64 { return (v + to - 1) &^ (to - 1) }
