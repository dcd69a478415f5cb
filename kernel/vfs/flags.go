package vfs

import (
	"io/fs"

	"sonde/kernel/abi"
)

// Flags of open, as programs give them.
//
// Source: Linux, uapi/asm-generic/fcntl.h.
const (
	O_RDONLY    = abi.O_RDONLY
	O_WRONLY    = abi.O_WRONLY
	O_RDWR      = abi.O_RDWR
	O_CREAT     = abi.O_CREAT
	O_EXCL      = abi.O_EXCL
	O_TRUNC     = abi.O_TRUNC
	O_APPEND    = abi.O_APPEND
	O_NONBLOCK  = abi.O_NONBLOCK
	O_ASYNC     = abi.O_ASYNC
	O_DIRECTORY = abi.O_DIRECTORY
	O_NOFOLLOW  = abi.O_NOFOLLOW
	O_PATH      = abi.O_PATH
	O_TMPFILE   = abi.O_TMPFILE

	accessMask = abi.O_ACCMODE
	// settable are the flags that stay with an open file and can be changed.
	settable = O_APPEND | O_NONBLOCK
)

// Bits of st_mode.
//
// Source: Linux, uapi/linux/stat.h.
const (
	S_IFIFO  = abi.S_IFIFO
	S_IFCHR  = abi.S_IFCHR
	S_IFDIR  = abi.S_IFDIR
	S_IFBLK  = abi.S_IFBLK
	S_IFREG  = abi.S_IFREG
	S_IFLNK  = abi.S_IFLNK
	S_IFSOCK = abi.S_IFSOCK
	S_ISUID  = 0o4000
	S_ISGID  = 0o2000
	S_ISVTX  = 0o1000
)

// TypeBits returns the type of m as in st_mode. Shifted right by 12 it is the
// d_type of getdents.
func TypeBits(m fs.FileMode) uint32 {
	switch m & fs.ModeType {
	case 0:
		return S_IFREG
	case fs.ModeDir:
		return S_IFDIR
	case fs.ModeSymlink:
		return S_IFLNK
	case fs.ModeNamedPipe:
		return S_IFIFO
	case fs.ModeSocket:
		return S_IFSOCK
	case fs.ModeDevice | fs.ModeCharDevice:
		return S_IFCHR
	case fs.ModeDevice:
		return S_IFBLK
	}
	return 0 // an anonymous inode, as of an eventfd
}

// ModeBits returns the mode as in st_mode.
func (i Info) ModeBits() uint32 {
	bits := TypeBits(i.Mode) | uint32(i.Mode.Perm())
	for _, b := range special {
		if i.Mode&b.mode != 0 {
			bits |= b.bit
		}
	}
	return bits
}

// Perm returns the permission bits of a mode that a program gave.
func Perm(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	for _, b := range special {
		if bits&b.bit != 0 {
			m |= b.mode
		}
	}
	return m
}

// permMask is the bits that SetMode changes.
const permMask = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

var special = [...]struct {
	mode fs.FileMode
	bit  uint32
}{{fs.ModeSetuid, S_ISUID}, {fs.ModeSetgid, S_ISGID}, {fs.ModeSticky, S_ISVTX}}

// MakeDev returns the number of a device, as in st_rdev.
//
// Source: glibc, sys/sysmacros.h, gnu_dev_makedev.
func MakeDev(major, minor uint32) uint64 {
	return uint64(minor&0xff) | uint64(major&0xfff)<<8 |
		uint64(minor&^0xff)<<12 | uint64(major&^0xfff)<<32
}
