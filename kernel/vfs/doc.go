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
package vfs
