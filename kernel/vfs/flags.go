package vfs

import "io/fs"

// Flags of open, as programs give them.
//
// Source: Linux, uapi/asm-generic/fcntl.h.
const (
	O_RDONLY    = 0
	O_WRONLY    = 1
	O_RDWR      = 2
	O_CREAT     = 0o100
	O_EXCL      = 0o200
	O_TRUNC     = 0o1000
	O_APPEND    = 0o2000
	O_NONBLOCK  = 0o4000
	O_DIRECTORY = 0o200000
	O_NOFOLLOW  = 0o400000
	O_PATH      = 0o10000000

	accessMask = 3
	// settable are the flags that stay with an open file and can be changed.
	settable = O_APPEND | O_NONBLOCK
)

// Bits of st_mode.
//
// Source: Linux, uapi/linux/stat.h.
const (
	S_IFIFO  = 0o010000
	S_IFCHR  = 0o020000
	S_IFDIR  = 0o040000
	S_IFBLK  = 0o060000
	S_IFREG  = 0o100000
	S_IFLNK  = 0o120000
	S_IFSOCK = 0o140000
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

// Perm returns the permission bits of a program's mode.
func Perm(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	for _, b := range special {
		if bits&b.bit != 0 {
			m |= b.mode
		}
	}
	return m
}

// permMask is what SetMode changes.
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
