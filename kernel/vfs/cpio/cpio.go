// Package cpio reads and writes archives in the "newc" format, the format of an initramfs.
//
// It does not depend on the kernel's files: the launcher writes archives with it, and
// kernel/vfs/initramfs reads them.
//
// Source: Linux, Documentation/driver-api/early-userspace/buffer-format.rst.
package cpio

import (
	"errors"
	"fmt"
)

// The types of entries, in Mode.
const (
	TypeMask = 0o170000
	Dir      = 0o040000
	Regular  = 0o100000
	Symlink  = 0o120000
)

// Entry is one file of an archive.
type Entry struct {
	Name     string
	Ino      uint32 // on one device: entries that share it are links of one file
	Mode     uint32 // type and permissions, as st_mode
	UID, GID uint32
	Links    uint32
	Time     uint32 // seconds since 1970
	Device   [2]uint32
	Data     []byte // contents, or the target of a symbolic link
}

// Type returns the type of the entry.
func (e Entry) Type() uint32 { return e.Mode & TypeMask }

// ErrFormat says that an archive is corrupt.
var ErrFormat = errors.New("corrupt cpio archive")

const (
	magic      = "070701"
	magicSum   = "070702" // with a checksum of the contents
	headSize   = 6 + 13*8
	trailer    = "TRAILER!!!"
	maxName    = 4096
	alignment  = 4
	maxContent = 1<<32 - 1
)

// The numbers of a header, in order.
const (
	fieldIno = iota
	fieldMode
	fieldUID
	fieldGID
	fieldLinks
	fieldTime
	fieldSize
	fieldMajor
	fieldMinor
	_ // the device number of a device file
	_
	fieldName
	fieldSum
	fields
)

func corrupt(at int, format string, args ...any) error {
	return fmt.Errorf("%w: at byte %d: %s", ErrFormat, at, fmt.Sprintf(format, args...))
}

func align(n int) int { return (n + alignment - 1) &^ (alignment - 1) }
