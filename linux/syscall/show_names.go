package syscall

import "sonde/kernel/abi"

// bit is a bit, or several, and its name.
type bit struct {
	mask uint64
	name string
}

var protNames = []bit{{1, "PROT_READ"}, {2, "PROT_WRITE"}, {4, "PROT_EXEC"}}

var openNames = []bit{
	{abi.O_CREAT, "O_CREAT"}, {abi.O_EXCL, "O_EXCL"}, {abi.O_NOCTTY, "O_NOCTTY"}, {abi.O_TRUNC, "O_TRUNC"}, {abi.O_APPEND, "O_APPEND"},
	{abi.O_NONBLOCK, "O_NONBLOCK"}, {abi.O_DSYNC, "O_DSYNC"}, {abi.O_ASYNC, "O_ASYNC"}, {abi.O_DIRECT, "O_DIRECT"}, {abi.O_LARGEFILE, "O_LARGEFILE"},
	{abi.O_NOFOLLOW, "O_NOFOLLOW"}, {abi.O_NOATIME, "O_NOATIME"}, {abi.O_CLOEXEC, "O_CLOEXEC"}, {abi.O_PATH, "O_PATH"}, {abi.O_DIRECTORY, "O_DIRECTORY"},
}

var mapNames = []bit{
	{abi.MAP_FIXED, "MAP_FIXED"}, {abi.MAP_ANONYMOUS, "MAP_ANONYMOUS"}, {abi.MAP_GROWSDOWN, "MAP_GROWSDOWN"}, {0x800, "MAP_DENYWRITE"}, {abi.MAP_LOCKED, "MAP_LOCKED"},
	{abi.MAP_NORESERVE, "MAP_NORESERVE"}, {abi.MAP_POPULATE, "MAP_POPULATE"}, {abi.MAP_STACK, "MAP_STACK"}, {abi.MAP_FIXED_NOREPLACE, "MAP_FIXED_NOREPLACE"},
}

var cloneNames = []bit{
	{abi.CLONE_VM, "CLONE_VM"}, {abi.CLONE_FS, "CLONE_FS"}, {abi.CLONE_FILES, "CLONE_FILES"}, {abi.CLONE_SIGHAND, "CLONE_SIGHAND"},
	{abi.CLONE_VFORK, "CLONE_VFORK"}, {abi.CLONE_PARENT, "CLONE_PARENT"}, {abi.CLONE_THREAD, "CLONE_THREAD"}, {abi.CLONE_SYSVSEM, "CLONE_SYSVSEM"},
	{abi.CLONE_SETTLS, "CLONE_SETTLS"}, {abi.CLONE_PARENT_SETTID, "CLONE_PARENT_SETTID"}, {abi.CLONE_CHILD_CLEARTID, "CLONE_CHILD_CLEARTID"},
	{abi.CLONE_CHILD_SETTID, "CLONE_CHILD_SETTID"}, {abi.CLONE_DETACHED, "CLONE_DETACHED"},
}

var waitNames = []bit{
	{abi.WNOHANG, "WNOHANG"}, {abi.WUNTRACED, "WSTOPPED"}, {abi.WEXITED, "WEXITED"}, {abi.WCONTINUED, "WCONTINUED"}, {abi.WNOWAIT, "WNOWAIT"},
	{abi.WNOTHREAD, "__WNOTHREAD"}, {abi.WALL, "__WALL"}, {abi.WCLONE, "__WCLONE"},
}

var atNames = []bit{
	{abi.AT_SYMLINK_NOFOLLOW, "AT_SYMLINK_NOFOLLOW"}, {abi.AT_EACCESS, "AT_EACCESS"}, {abi.AT_SYMLINK_FOLLOW, "AT_SYMLINK_FOLLOW"},
	{abi.AT_NO_AUTOMOUNT, "AT_NO_AUTOMOUNT"}, {abi.AT_EMPTY_PATH, "AT_EMPTY_PATH"},
}

var saNames = []bit{
	{abi.SA_RESTORER, "SA_RESTORER"}, {abi.SA_ONSTACK, "SA_ONSTACK"}, {abi.SA_RESTART, "SA_RESTART"}, {abi.SA_NODEFER, "SA_NODEFER"},
	{abi.SA_RESETHAND, "SA_RESETHAND"}, {abi.SA_SIGINFO, "SA_SIGINFO"}, {abi.SA_NOCLDSTOP, "SA_NOCLDSTOP"}, {abi.SA_NOCLDWAIT, "SA_NOCLDWAIT"},
}

var accessNames = []bit{{4, "R_OK"}, {2, "W_OK"}, {1, "X_OK"}}

var pollNames = []bit{{abi.POLLIN, "POLLIN"}, {abi.POLLPRI, "POLLPRI"}, {abi.POLLOUT, "POLLOUT"}, {abi.POLLERR, "POLLERR"}, {abi.POLLHUP, "POLLHUP"}, {abi.POLLNVAL, "POLLNVAL"}}

// number is a number and its name. The compiler lays out lists of them; maps would be filled at
// boot.
type number struct {
	value uint64
	name  string
}

var whenceNames = []number{{0, "SEEK_SET"}, {1, "SEEK_CUR"}, {2, "SEEK_END"}, {3, "SEEK_DATA"}, {4, "SEEK_HOLE"}}

var watchNames = []bit{{abi.IN_ACCESS, "IN_ACCESS"}, {abi.IN_MODIFY, "IN_MODIFY"}, {abi.IN_ATTRIB, "IN_ATTRIB"}, {abi.IN_CLOSE_WRITE, "IN_CLOSE_WRITE"},
	{abi.IN_CLOSE_NOWRITE, "IN_CLOSE_NOWRITE"}, {abi.IN_OPEN, "IN_OPEN"}, {abi.IN_MOVED_FROM, "IN_MOVED_FROM"}, {abi.IN_MOVED_TO, "IN_MOVED_TO"},
	{abi.IN_CREATE, "IN_CREATE"}, {abi.IN_DELETE, "IN_DELETE"}, {abi.IN_DELETE_SELF, "IN_DELETE_SELF"}, {abi.IN_MOVE_SELF, "IN_MOVE_SELF"},
	{abi.IN_ONLYDIR, "IN_ONLYDIR"}, {abi.IN_DONT_FOLLOW, "IN_DONT_FOLLOW"}, {abi.IN_EXCL_UNLINK, "IN_EXCL_UNLINK"},
	{abi.IN_MASK_CREATE, "IN_MASK_CREATE"}, {abi.IN_MASK_ADD, "IN_MASK_ADD"}, {abi.IN_ONESHOT, "IN_ONESHOT"}}

var barrierNames = []number{{0, "MEMBARRIER_CMD_QUERY"}, {barrierGlobal, "MEMBARRIER_CMD_GLOBAL"}, {barrierGlobalExpedited, "MEMBARRIER_CMD_GLOBAL_EXPEDITED"},
	{registerGlobal, "MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED"}, {barrierPrivate, "MEMBARRIER_CMD_PRIVATE_EXPEDITED"},
	{registerPrivate, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED"}, {barrierPrivateSync, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE"},
	{registerPrivateSync, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE"}, {barrierGetRegistrations, "MEMBARRIER_CMD_GET_REGISTRATIONS"}}

var renameNames = []bit{{abi.RENAME_NOREPLACE, "RENAME_NOREPLACE"}, {abi.RENAME_EXCHANGE, "RENAME_EXCHANGE"}, {abi.RENAME_WHITEOUT, "RENAME_WHITEOUT"}}

var howNames = []number{{abi.SIG_BLOCK, "SIG_BLOCK"}, {abi.SIG_UNBLOCK, "SIG_UNBLOCK"}, {abi.SIG_SETMASK, "SIG_SETMASK"}}

var archNames = []number{{abi.ARCH_SET_GS, "ARCH_SET_GS"}, {abi.ARCH_SET_FS, "ARCH_SET_FS"}, {abi.ARCH_GET_FS, "ARCH_GET_FS"}, {abi.ARCH_GET_GS, "ARCH_GET_GS"}}

var epollNames = []number{{abi.EPOLL_CTL_ADD, "EPOLL_CTL_ADD"}, {abi.EPOLL_CTL_DEL, "EPOLL_CTL_DEL"}, {abi.EPOLL_CTL_MOD, "EPOLL_CTL_MOD"}}

var idNames = []number{{abi.P_ALL, "P_ALL"}, {abi.P_PID, "P_PID"}, {abi.P_PGID, "P_PGID"}, {abi.P_PIDFD, "P_PIDFD"}}

var clockNames = []number{{0, "CLOCK_REALTIME"}, {1, "CLOCK_MONOTONIC"}, {2, "CLOCK_PROCESS_CPUTIME_ID"}, {3, "CLOCK_THREAD_CPUTIME_ID"},
	{4, "CLOCK_MONOTONIC_RAW"}, {5, "CLOCK_REALTIME_COARSE"}, {6, "CLOCK_MONOTONIC_COARSE"}, {7, "CLOCK_BOOTTIME"},
	{8, "CLOCK_REALTIME_ALARM"}, {9, "CLOCK_BOOTTIME_ALARM"}}

var limitNames = []number{{0, "RLIMIT_CPU"}, {1, "RLIMIT_FSIZE"}, {2, "RLIMIT_DATA"}, {3, "RLIMIT_STACK"}, {4, "RLIMIT_CORE"}, {5, "RLIMIT_RSS"}, {6, "RLIMIT_NPROC"},
	{7, "RLIMIT_NOFILE"}, {8, "RLIMIT_MEMLOCK"}, {9, "RLIMIT_AS"}, {10, "RLIMIT_LOCKS"}, {11, "RLIMIT_SIGPENDING"}, {12, "RLIMIT_MSGQUEUE"}, {13, "RLIMIT_NICE"}, {14, "RLIMIT_RTPRIO"}, {15, "RLIMIT_RTTIME"}}

var adviceNames = []number{{0, "MADV_NORMAL"}, {1, "MADV_RANDOM"}, {2, "MADV_SEQUENTIAL"}, {3, "MADV_WILLNEED"}, {4, "MADV_DONTNEED"}, {8, "MADV_FREE"},
	{10, "MADV_DONTFORK"}, {11, "MADV_DOFORK"}, {14, "MADV_HUGEPAGE"}, {15, "MADV_NOHUGEPAGE"}, {16, "MADV_DONTDUMP"}, {18, "MADV_WIPEONFORK"}, {19, "MADV_KEEPONFORK"}, {20, "MADV_COLD"}, {21, "MADV_PAGEOUT"}, {22, "MADV_POPULATE_READ"}, {23, "MADV_POPULATE_WRITE"}, {25, "MADV_COLLAPSE"}}

var fcntlNames = []number{{0, "F_DUPFD"}, {1, "F_GETFD"}, {2, "F_SETFD"}, {3, "F_GETFL"}, {4, "F_SETFL"}, {5, "F_GETLK"}, {6, "F_SETLK"}, {7, "F_SETLKW"},
	{8, "F_SETOWN"}, {9, "F_GETOWN"}, {36, "F_OFD_GETLK"}, {37, "F_OFD_SETLK"}, {38, "F_OFD_SETLKW"}, {1030, "F_DUPFD_CLOEXEC"}, {1031, "F_SETPIPE_SZ"}, {1032, "F_GETPIPE_SZ"}}

var ioctlNames = []number{{abi.TCGETS, "TCGETS"}, {abi.TCSETS, "TCSETS"}, {abi.TCSETSW, "TCSETSW"}, {abi.TCSETSF, "TCSETSF"}, {abi.TCGETA, "TCGETA"}, {abi.TCSETA, "TCSETA"}, {abi.TCSETAW, "TCSETAW"}, {abi.TCSETAF, "TCSETAF"}, {abi.TCSBRK, "TCSBRK"}, {abi.TCXONC, "TCXONC"},
	{abi.TCFLSH, "TCFLSH"}, {abi.TIOCSCTTY, "TIOCSCTTY"}, {abi.TIOCGPGRP, "TIOCGPGRP"}, {abi.TIOCSPGRP, "TIOCSPGRP"}, {abi.TIOCGWINSZ, "TIOCGWINSZ"}, {abi.TIOCSWINSZ, "TIOCSWINSZ"},
	{abi.FIONREAD, "FIONREAD"}, {abi.FIONBIO, "FIONBIO"}, {abi.TIOCNOTTY, "TIOCNOTTY"}, {abi.TIOCGSID, "TIOCGSID"}, {abi.FIONCLEX, "FIONCLEX"}, {abi.FIOCLEX, "FIOCLEX"},
	{abi.FICLONE, "FICLONE"}, {abi.FICLONERANGE, "FICLONERANGE"}, {abi.RNDGETENTCNT, "RNDGETENTCNT"}}

var futexNames = []number{{0, "FUTEX_WAIT"}, {1, "FUTEX_WAKE"}, {3, "FUTEX_REQUEUE"}, {4, "FUTEX_CMP_REQUEUE"}, {5, "FUTEX_WAKE_OP"}, {9, "FUTEX_WAIT_BITSET"}, {10, "FUTEX_WAKE_BITSET"}}

var kindNames = []number{{abi.S_IFSOCK, "S_IFSOCK"}, {abi.S_IFLNK, "S_IFLNK"}, {abi.S_IFREG, "S_IFREG"}, {abi.S_IFBLK, "S_IFBLK"},
	{abi.S_IFDIR, "S_IFDIR"}, {abi.S_IFCHR, "S_IFCHR"}, {abi.S_IFIFO, "S_IFIFO"}}

var prctlNames = []number{{1, "PR_SET_PDEATHSIG"}, {2, "PR_GET_PDEATHSIG"}, {3, "PR_GET_DUMPABLE"}, {4, "PR_SET_DUMPABLE"},
	{15, "PR_SET_NAME"}, {16, "PR_GET_NAME"}, {22, "PR_SET_SECCOMP"}, {23, "PR_CAPBSET_READ"}, {36, "PR_SET_CHILD_SUBREAPER"},
	{38, "PR_SET_NO_NEW_PRIVS"}, {39, "PR_GET_NO_NEW_PRIVS"}, {41, "PR_SET_THP_DISABLE"}, {0x53564d41, "PR_SET_VMA"}}
