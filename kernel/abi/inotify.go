package abi

// Events of inotify, and what else may be in a mask or an event.
const (
	IN_ACCESS        = 0x001
	IN_MODIFY        = 0x002
	IN_ATTRIB        = 0x004
	IN_CLOSE_WRITE   = 0x008
	IN_CLOSE_NOWRITE = 0x010
	IN_OPEN          = 0x020
	IN_MOVED_FROM    = 0x040
	IN_MOVED_TO      = 0x080
	IN_CREATE        = 0x100
	IN_DELETE        = 0x200
	IN_DELETE_SELF   = 0x400
	IN_MOVE_SELF     = 0x800
	IN_ALL_EVENTS    = 0xfff

	IN_UNMOUNT    = 0x2000
	IN_Q_OVERFLOW = 0x4000
	IN_IGNORED    = 0x8000

	IN_ONLYDIR     = 1 << 24
	IN_DONT_FOLLOW = 1 << 25
	IN_EXCL_UNLINK = 1 << 26
	IN_MASK_CREATE = 1 << 28
	IN_MASK_ADD    = 1 << 29
	IN_ISDIR       = 1 << 30
	IN_ONESHOT     = 1 << 31

	// IN_ALL_BITS are those of which a mask must have one.
	IN_ALL_BITS = IN_ALL_EVENTS | IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK |
		IN_MASK_CREATE | IN_MASK_ADD | IN_ISDIR | IN_ONESHOT
)
