package abi

// Stat is struct stat.
type Stat struct {
	Dev, Ino, Nlink     uint64
	Mode, UID, GID, _   uint32
	Rdev                uint64
	Size, Blksize       int64
	Blocks              int64 // of 512 bytes
	Atime, Mtime, Ctime Timespec
	_                   [3]int64
}

// Statx is struct statx.
type Statx struct {
	Mask, Blksize               uint32
	Attributes                  uint64
	Nlink, UID, GID             uint32
	Mode, _                     uint16
	Ino, Size, Blocks, AttrMask uint64
	Atime, Btime, Ctime, Mtime  StatxTime
	RdevMajor, RdevMinor        uint32
	DevMajor, DevMinor          uint32
	_                           [14]uint64
}

// StatxTime is struct statx_timestamp.
type StatxTime struct {
	Sec  int64
	Nsec uint32
	_    int32
}

// STATX_BASIC_STATS is the Mask of all that Stat has, too.
const STATX_BASIC_STATS = 0x7ff

// Statfs is struct statfs.
type Statfs struct {
	Type, Bsize            int64
	Blocks, Bfree, Bavail  uint64
	Files, Ffree           uint64
	FSID                   [2]int32
	Namelen, Frsize, Flags int64
	_                      [4]int64
}

// Kinds of files in Stat.Mode.
const (
	S_IFMT   = 0170000
	S_IFSOCK = 0140000
	S_IFLNK  = 0120000
	S_IFREG  = 0100000
	S_IFBLK  = 0060000
	S_IFDIR  = 0040000
	S_IFCHR  = 0020000
	S_IFIFO  = 0010000
)

// Flags of open.
const (
	O_RDONLY    = 0
	O_WRONLY    = 1
	O_RDWR      = 2
	O_ACCMODE   = 3
	O_CREAT     = 0100
	O_EXCL      = 0200
	O_NOCTTY    = 0400
	O_TRUNC     = 01000
	O_APPEND    = 02000
	O_NONBLOCK  = 04000
	O_DSYNC     = 010000
	O_ASYNC     = 020000
	O_DIRECT    = 040000
	O_LARGEFILE = 0100000
	O_DIRECTORY = 0200000
	O_NOFOLLOW  = 0400000
	O_NOATIME   = 01000000
	O_CLOEXEC   = 02000000
	O_PATH      = 010000000
	O_TMPFILE   = 020000000 | O_DIRECTORY
)

// Directories and flags of the calls that end in "at".
const (
	AT_FDCWD            = -100
	AT_SYMLINK_NOFOLLOW = 0x100
	AT_REMOVEDIR        = 0x200
	AT_EACCESS          = 0x200
	AT_SYMLINK_FOLLOW   = 0x400
	AT_NO_AUTOMOUNT     = 0x800
	AT_EMPTY_PATH       = 0x1000
)

// Flags of renameat2.
const (
	RENAME_NOREPLACE = 1
	RENAME_EXCHANGE  = 2
	RENAME_WHITEOUT  = 4
)

// What lseek counts from, beside those that package io has.
const (
	SEEK_DATA = 3
	SEEK_HOLE = 4
)

// What fcntl does.
const (
	F_DUPFD         = 0
	F_GETFD         = 1
	F_SETFD         = 2
	F_GETFL         = 3
	F_SETFL         = 4
	F_GETLK         = 5
	F_SETLK         = 6
	F_SETLKW        = 7
	F_SETOWN        = 8
	F_GETOWN        = 9
	F_SETSIG        = 10
	F_GETSIG        = 11
	F_SETOWN_EX     = 15
	F_GETOWN_EX     = 16
	F_SETLEASE      = 1024
	F_GETLEASE      = 1025
	F_NOTIFY        = 1026
	F_DUPFD_CLOEXEC = 1030
	F_SETPIPE_SZ    = 1031
	F_GETPIPE_SZ    = 1032
	F_OFD_GETLK     = 36
	F_OFD_SETLK     = 37
	F_OFD_SETLKW    = 38

	FD_CLOEXEC = 1
)

// Events of F_NOTIFY.
const (
	DN_ACCESS    = 1
	DN_MODIFY    = 2
	DN_CREATE    = 4
	DN_DELETE    = 8
	DN_RENAME    = 0x10
	DN_ATTRIB    = 0x20
	DN_MULTISHOT = 0x80000000
)

// PATH_MAX is the longest path, with its zero byte.
const PATH_MAX = 4096

// FOwnerEx is struct f_owner_ex.
type FOwnerEx struct{ Type, PID int32 }

// Types of a FOwnerEx.
const (
	F_OWNER_TID  = 0
	F_OWNER_PID  = 1
	F_OWNER_PGRP = 2
)

// Flock is struct flock, for the locks of fcntl.
type Flock struct {
	Type, Whence int16
	_            int32
	Start, Len   int64
	PID          int32
	_            int32
}

// Kinds of locks in Flock.Type.
const (
	F_RDLCK = 0
	F_WRLCK = 1
	F_UNLCK = 2
)

// Iovec is struct iovec.
type Iovec struct{ Base, Len uint64 }

// IOVMax is the longest array of Iovec that a call takes.
const IOVMax = 1024

// PollFD is struct pollfd.
type PollFD struct {
	FD              int32
	Events, Revents int16
}

// Events of poll and epoll.
const (
	POLLIN     = 0x1
	POLLPRI    = 0x2
	POLLOUT    = 0x4
	POLLERR    = 0x8
	POLLHUP    = 0x10
	POLLNVAL   = 0x20
	POLLRDNORM = 0x40
	POLLRDBAND = 0x80
	POLLWRBAND = 0x200
	POLLWRNORM = 0x100
	POLLMSG    = 0x400
	POLLRDHUP  = 0x2000

	EPOLLONESHOT = 1 << 30
	EPOLLET      = 1 << 31

	EPOLL_CTL_ADD = 1
	EPOLL_CTL_DEL = 2
	EPOLL_CTL_MOD = 3
)

// Dirent64Head is how long struct linux_dirent64 is before the name.
const Dirent64Head = 19

// Dirent64Len is how long an entry with that name is: the name ends with a zero
// byte, and entries begin at multiples of 8.
func Dirent64Len(name string) int { return (Dirent64Head + len(name) + 1 + 7) &^ 7 }

// PutDirent64 writes an entry to b, which has room for Dirent64Len(name), and
// returns its length. next is the position after it, for lseek.
func PutDirent64(b []byte, ino uint64, next int64, kind byte, name string) int {
	n := Dirent64Len(name)
	clear(b[:n])
	put64(b, ino)
	put64(b[8:], uint64(next))
	b[16], b[17] = byte(n), byte(n>>8)
	b[18] = kind
	copy(b[Dirent64Head:], name)
	return n
}
