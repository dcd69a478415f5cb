package strace

import (
	"fmt"
	"strings"
	"sync"

	"sonde/kernel/abi"
	sysbpf "sonde/linux/bpf"
)

func in(f func(s *Shown, v uint64) string) kind  { return kind{show: f} }
func out(f func(s *Shown, v uint64) string) kind { return kind{show: f, out: true} }

// kinds is how parameters are shown, by name or, where a name has several meanings, by call and
// name. A test checks that each parameter of the table has a line. The map is made at its first
// use, because booting does not need it.
var kinds = sync.OnceValue(func() map[string]kind {
	all := map[string]kind{
		"write.buf": in(bytesOf(2)), "pwrite64.buf": in(bytesOf(2)), "sendto.buf": in(bytesOf(2)),
		"read.buf": out(bytesRead), "pread64.buf": out(bytesRead), "recvfrom.buf": out(bytesRead),
		"readlink.buf": out(bytesRead), "readlinkat.buf": out(bytesRead), "getrandom.buf": out(hexRead), "getcwd.buf": out(text),
		"writev.iov": in(vectors), "pwritev.iov": in(vectors), "readv.iov": out(vectors), "preadv.iov": out(vectors),
		"statbuf": out(fileStatus), "uname.buf": out(unameOf), "pipefd": out(pair[int32]), "wstatus": out(waitStatus),
		"tp": out(timespecOf), "res": out(timespecOf), "rem": out(timespecOf), "tv": out(timevalOf),
		"rlim": out(limitOf), "getrlimit.rlim": out(limitOf), "setrlimit.rlim": in(limitOf), "new_limit": in(limitOf), "old_limit": out(limitOf),
		"oldact": out(actionOf), "act": in(actionOf), "oldset": out(signalSet), "pselect6.sigmask": in(pointer),
		"fds": in(pollFDs), "argv": in(stringList), "envp": in(variables),
		"duration": in(timespecOf), "tmo_p": in(timespecOf), "rt_sigtimedwait.timeout": in(timespecOf), "epoll_pwait2.timeout": in(timespecOf),
		"flags": in(hexOr0), "clone.flags": in(cloneFlags), "addr": in(pointer),
		"openat.mode": {show: mode, unless: noCreate(2)}, "open.mode": {show: mode, unless: noCreate(1)},
		"mode": in(mode), "mask": in(mode), "sched_setaffinity.mask": in(pointer), "sched_getaffinity.mask": in(pointer),
		"statx.mask": in(hexOr0), "rt_sigsuspend.mask": in(signalSet), "signalfd.mask": in(signalSet), "signalfd4.mask": in(signalSet),
		"inotify_add_watch.mask": in(bits(watchNames, "0")), "inotify_init1.flags": in(bits(openNames, "0")),
		"bpf.cmd": in(bpfCommand), "group_fd": in(integer), "membarrier.cmd": in(oneOf(barrierNames)), "renameat2.flags": in(bits(renameNames, "0")),
		"signalfd4.flags": in(bits(openNames, "0")), "timerfd_create.flags": in(bits(openNames, "0")),
		"ioctl.arg": in(pointer), "fcntl.arg": {show: fcntlArg, unless: fcntlWithoutArg}, "fcntl.cmd": in(oneOf(fcntlNames)),
		"request": in(oneOf(ioctlNames)), "op": in(oneOf(archNames)), "futex.op": in(futexOp), "flock.op": in(integer), "epoll_ctl.op": in(oneOf(epollNames)),
		"futex.timeout": {show: timespecOf, unless: futexWakes}, "futex.uaddr2": {show: pointer, unless: futexWaits}, "futex.val3": in(pointer),
		"timeout": in(integer), "select.timeout": in(pointer), "pselect6.timeout": in(pointer),
		"prot": in(bits(protNames, "PROT_NONE")), "mmap.flags": in(mmapFlags), "open.flags": in(openFlags), "openat.flags": in(openFlags),
		"pipe2.flags": in(bits(openNames, "0")), "dup3.flags": in(bits(openNames, "0")), "epoll_create1.flags": in(bits(openNames, "0")),
		"eventfd2.flags": in(bits(openNames, "0")), "wait4.options": in(bits(waitNames, "0")), "waitid.options": in(bits(waitNames, "0")),
		"newfstatat.flags": in(bits(atNames, "0")), "statx.flags": in(bits(atNames, "0")), "linkat.flags": in(bits(atNames, "0")),
		"fchownat.flags": in(bits(atNames, "0")), "utimensat.flags": in(bits(atNames, "0")), "faccessat2.flags": in(bits(atNames, "0")),
		"unlinkat.flags":  in(bits([]bit{{abi.AT_REMOVEDIR, "AT_REMOVEDIR"}}, "0")),
		"getrandom.flags": in(bits([]bit{{1, "GRND_NONBLOCK"}, {2, "GRND_RANDOM"}}, "0")),
		"access.mode":     in(bits(accessNames, "F_OK")), "faccessat.mode": in(bits(accessNames, "F_OK")), "faccessat2.mode": in(bits(accessNames, "F_OK")),
		"mremap.flags": in(bits([]bit{{abi.MREMAP_MAYMOVE, "MREMAP_MAYMOVE"}, {abi.MREMAP_FIXED, "MREMAP_FIXED"}, {abi.MREMAP_DONTUNMAP, "MREMAP_DONTUNMAP"}}, "0")),
		"advice":       in(oneOf(adviceNames)), "fadvise64.advice": in(integer), "whence": in(oneOf(whenceNames)), "how": in(oneOf(howNames)), "shutdown.how": in(integer), "openat2.how": in(pointer),
		"rseq.rseq_len": in(hexOr0), "rseq.sig": in(hexOr0), "prctl.option": in(oneOf(prctlNames)),
		"clockid": in(oneOf(clockNames)), "resource": in(oneOf(limitNames)), "sig": in(signalNumber), "signum": in(signalNumber),
		"set": in(signalSet), "rt_sigpending.set": out(signalSet), "sigmask": in(signalSet), "idtype": in(oneOf(idNames)),
		"dirfd": in(dirFD), "olddirfd": in(dirFD), "newdirfd": in(dirFD), "clone3.cl_args": in(pointer), "sendfile.offset": in(pointer),
	}
	several := func(k kind, names string) {
		for name := range strings.FieldsSeq(names) {
			if _, there := all[name]; !there {
				all[name] = k
			}
		}
	}
	several(in(text), "filename pathname path oldpath newpath linkpath target name")
	several(in(descriptor), "fd pidfd oldfd newfd in_fd out_fd fd_in fd_out epfd sockfd")
	several(in(integer), `persona policy vlen timerid pid tid tgid pgid which who whence status option
		domain type protocol backlog level optname prio nfds iovcnt maxevents initval owner group uid gid ruid euid suid fsuid rgid egid sgid fsgid id
		size seconds val first last dev pid1 pid2 targetfd`)
	several(in(decimal), `nbytes pgoff count rseq_len length len offset bufsiz buflen sigsetsize old_size new_size addrlen optlen cpusetsize nr_segs ioprio sizemask cpu_id wd`)
	several(in(pointer), `hdrp datap msgvec pos_h buf rseq sevp timer_create.timerid value list statxbuf stack parent_tid child_tid tls old_address new_address vec iov rem
		off_in off_out readfds writefds exceptfds curr_value new_value old_value rusage usage info infop tz dirp events event cl_args head tidptr tloc
		cpu node param ss old_ss dest_addr src_addr msg sv optval times uaddr uaddr2 arg2 arg3 arg4 arg5 arg a b c d e f ubuf
		head_ptr len_ptr idx1 idx2 attr`)
	return all
})

// bpfCommand shows a command of bpf(2).
func bpfCommand(_ *Shown, v uint64) string {
	if name := sysbpf.CommandName(int(int32(v))); name != "" {
		return "BPF_" + name
	}
	return fmt.Sprintf("%#x", uint32(v))
}

// fcntlArg shows the last argument of fcntl: a number, or a struct flock.
func fcntlArg(s *Shown, v uint64) string {
	cmd := s.a[1]
	if (cmd < abi.F_GETLK || cmd > abi.F_SETLKW) && (cmd < abi.F_OFD_GETLK || cmd > abi.F_OFD_SETLKW) {
		return decimal(s, v)
	}
	return structure(s, v, func(l abi.Flock) string {
		kind := oneOf(recordNames)(s, uint64(uint16(l.Type)))
		whence := oneOf(whenceNames)(s, uint64(uint16(l.Whence)))
		return fmt.Sprintf("{l_type=%s, l_whence=%s, l_start=%d, l_len=%d}", kind, whence, l.Start, l.Len)
	})
}

var recordNames = []bit{{abi.F_RDLCK, "F_RDLCK"}, {abi.F_WRLCK, "F_WRLCK"}, {abi.F_UNLCK, "F_UNLCK"}}
