package strace

import (
	"sonde/kernel/abi"
	"sonde/linux/syscall"
)

// dirFD shows the descriptor of a directory.
func dirFD(s *Shown, v uint64) string {
	if int32(v) == abi.AT_FDCWD {
		if files, ok := s.t.Process().Resources().(*syscall.Files); ok && s.paths {
			return "AT_FDCWD<" + files.Cwd().Describe() + ">"
		}
		return "AT_FDCWD"
	}
	return descriptor(s, v)
}

// returnsFile are the calls that return a descriptor; fcntl may.
var returnsFile = map[string]bool{"open": true, "openat": true, "openat2": true, "creat": true, "dup": true, "dup2": true, "dup3": true, "socket": true, "accept": true,
	"accept4": true, "epoll_create": true, "epoll_create1": true, "eventfd": true, "eventfd2": true, "timerfd_create": true, "signalfd": true, "signalfd4": true,
	"inotify_init": true, "inotify_init1": true, "memfd_create": true, "pidfd_open": true, "pidfd_getfd": true, "perf_event_open": true}

// descriptor shows a descriptor, and what it is of if that is wanted: 3</proc/uptime>.
func descriptor(s *Shown, v uint64) string {
	text := integer(s, v)
	files, ok := s.t.Process().Resources().(*syscall.Files)
	if !ok || !s.paths {
		return text
	}
	f, err := files.Descriptors().Get(int(int32(v)))
	if err != nil {
		return text
	}
	name := f.Name()
	if at := f.Place(); at != nil {
		name = at.Describe()
	}
	return text + "<" + name + ">"
}
