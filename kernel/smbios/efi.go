package smbios

import (
	"fmt"
	"io"
	"syscall"

	"sonde/kernel/refusal"
)

// The names of the two entry points in EFI's list, as they are in memory.
//
// Source: UEFI Specification 2.10, "Industry Standard Configuration Tables".
const (
	guid3 = "\x44\x15\xfd\xf2\x94\x97\x2c\x4a\x99\x2e\xe5\xbb\xcf\x20\xe3\x94"
	guid2 = "\x31\x2d\x9d\xeb\x88\x2d\xd3\x11\x9a\x16\x00\x90\x27\x3f\xc1\x4d"
)

// FindEFI reads the tables of a machine with UEFI, whose system table is at systemTable.
//
// Errors: EIO there is no system table, ENOENT it lists no entry point; else as At.
// Source: UEFI Specification 2.10, "EFI System Table".
func FindEFI(mem io.ReaderAt, systemTable uint64) (*Tables, error) {
	const signature, size = "IBI SYST", 120
	b := make([]byte, size)
	if _, err := mem.ReadAt(b, int64(systemTable)); err != nil {
		return nil, fmt.Errorf("smbios: EFI system table at %#x: %w", systemTable, err)
	}
	if string(b[:8]) != signature {
		return nil, refusal.New(syscall.EIO, "smbios: no EFI system table at %#x", systemTable)
	}
	const most, each = 256, 24 // entries, and the bytes of one
	list := make([]byte, min(le.Uint64(b[104:]), most)*each)
	if _, err := mem.ReadAt(list, int64(le.Uint64(b[112:]))); err != nil {
		return nil, fmt.Errorf("smbios: EFI configuration table: %w", err)
	}
	for _, guid := range []string{guid3, guid2} {
		for at := 0; at < len(list); at += each {
			if string(list[at:at+16]) == guid {
				return At(mem, le.Uint64(list[at+16:]))
			}
		}
	}
	return nil, refusal.New(syscall.ENOENT, "smbios: EFI names no entry point")
}
