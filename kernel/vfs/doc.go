// Package vfs is the tree of names and the files behind them: directories, files and symbolic links
// in memory, and nodes that other packages bind to a name, such as the control files of
// kernel/vfs/ctl.
//
// A Node describes itself; a Directory finds nodes by name; an Opener makes a Handle, which reads
// and writes the bytes. A File is an open file, to which descriptors refer, with its position and
// flags. A Place is a node and the path to it, for current directories and paths relative to one.
//
// The kernel and programs open, read and write files through Open, Read, Write and Close. These are
// plain functions that are never inlined, as in Linux, so that one probe on vfs.Read sees each read
// in the kernel. Handles do not wait: they return EAGAIN if the file is not ready, and Read tries
// again when kernel/poll says so. An FS is also an fs.FS.
//
// Programs run as root, so the mode of a node in memory is kept and shown, but forbids nothing. The
// mode of a bound node counts: its "owner" bits say how it may be opened. A directory that the
// kernel made without write permission is sealed: only Bind and Unbind change its contents.
//
// Rejected: mount tables. A directory from another package is a Directory bound to a name; a mount
// needs no more here. /proc/mounts shows a fixed list of such parts. Rejected: a lock per
// directory. Renames need several at a time, in an order; one lock for all names, held for a map
// access, is simpler and fast enough.
//
// Locks: File.mu > FS.mu > inode.mu; regular.bounded > File.mu > regular.data. No function of a
// bound node is called under FS.mu.
//
// # Decisions
//
// A read returns to the file what it could not store. A read first takes bytes from the file, and
// then copies them to the program. If the program's memory ends early, the position moves back, and a
// pipe takes back what it gave. A check before each read would slow all reads for the sake of a few.
// With a terminal or an eventfd, those bytes are lost, as in Linux.
//
// Kinds of files never wait; vfs.Read does. Reading an empty pipe returns EAGAIN, and vfs.Read
// sleeps in one place until the pipe says that it may have changed. The obvious way, a channel or
// condition in each kind of file, needs a loop that notices signals in each of them, and poll and
// epoll need the other mechanism anyway. A probe on vfs.Read sees each read of a program once, with
// the time that it waited, as one on Linux's vfs_read does.
//
// One lock for all names of a tree. A lock per directory makes renames difficult: they take
// several at a time, in an order that moves with what is renamed. Lookups hold the lock for one map
// access each.
//
// Record locks belong to a table of descriptors. POSIX says "process". But what ends a lock is the
// close of a descriptor, and processes may share the table (CLONE_FILES). So the table is the owner,
// as in Linux. A table that never locked pays one load per close. A wait that closes a cycle returns
// EDEADLK. Cycles are searched among the locks that exist at that moment, so nothing has to be kept
// up to date. Open files as owners (F_OFD_SETLK) are left out of that search, as in Linux.
//
// The terminal is compared with the host's. No document describes completely what erasing, killing
// and echo do in all their modes. So a test types at random at a pseudo-terminal of the host's Linux
// and at ours.
package vfs
