package abi

// What getpriority and setpriority are about.
const (
	PRIO_PROCESS = 0
	PRIO_PGRP    = 1
	PRIO_USER    = 2
)

// Flags of clone; the lowest byte is the signal that the parent gets.
const (
	CSIGNAL              = 0xff
	CLONE_VM             = 0x100
	CLONE_FS             = 0x200
	CLONE_FILES          = 0x400
	CLONE_SIGHAND        = 0x800
	CLONE_PIDFD          = 0x1000
	CLONE_PTRACE         = 0x2000
	CLONE_VFORK          = 0x4000
	CLONE_PARENT         = 0x8000
	CLONE_THREAD         = 0x10000
	CLONE_NEWNS          = 0x20000
	CLONE_SYSVSEM        = 0x40000
	CLONE_SETTLS         = 0x80000
	CLONE_PARENT_SETTID  = 0x100000
	CLONE_CHILD_CLEARTID = 0x200000
	CLONE_DETACHED       = 0x400000
	CLONE_UNTRACED       = 0x800000
	CLONE_CHILD_SETTID   = 0x1000000
	CLONE_NEWCGROUP      = 0x2000000
	CLONE_NEWUTS         = 0x4000000
	CLONE_NEWIPC         = 0x8000000
	CLONE_NEWUSER        = 0x10000000
	CLONE_NEWPID         = 0x20000000
	CLONE_NEWNET         = 0x40000000
	CLONE_IO             = 0x80000000
	CLONE_CLEAR_SIGHAND  = 0x100000000
	CLONE_INTO_CGROUP    = 0x200000000
)

// CloneArgs is struct clone_args of clone3.
type CloneArgs struct {
	Flags, PidFD, ChildTID, ParentTID uint64
	ExitSignal, Stack, StackSize, TLS uint64
	SetTID, SetTIDSize, Cgroup        uint64
}

// Options of wait4 and waitid.
const (
	WNOHANG    = 1
	WUNTRACED  = 2
	WSTOPPED   = 2
	WEXITED    = 4
	WCONTINUED = 8
	WNOWAIT    = 0x1000000
	WNOTHREAD  = 0x20000000
	WALL       = 0x40000000
	WCLONE     = 0x80000000

	P_ALL   = 0
	P_PID   = 1
	P_PGID  = 2
	P_PIDFD = 3
)

// Rusage is struct rusage.
type Rusage struct {
	User, System                     Timeval
	MaxRSS, _, _, _                  int64 // KiB
	MinorFaults, MajorFaults, _      int64
	InBlock, OutBlock, _, _, _       int64
	VoluntarySwitches, OtherSwitches int64
}

// Whose Rusage.
const (
	RUSAGE_SELF     = 0
	RUSAGE_CHILDREN = -1
	RUSAGE_THREAD   = 1
)

// Rlimit is struct rlimit.
type Rlimit struct{ Cur, Max uint64 }

// RLIM_INFINITY is no limit.
const RLIM_INFINITY = ^uint64(0)

// The limits.
const (
	RLIMIT_CPU = iota
	RLIMIT_FSIZE
	RLIMIT_DATA
	RLIMIT_STACK
	RLIMIT_CORE
	RLIMIT_RSS
	RLIMIT_NPROC
	RLIMIT_NOFILE
	RLIMIT_MEMLOCK
	RLIMIT_AS
	RLIMIT_LOCKS
	RLIMIT_SIGPENDING
	RLIMIT_MSGQUEUE
	RLIMIT_NICE
	RLIMIT_RTPRIO
	RLIMIT_RTTIME
	NumRlimits
)

// Utsname is struct new_utsname.
type Utsname struct{ Sysname, Nodename, Release, Version, Machine, Domainname [65]byte }

// Sysinfo is struct sysinfo.
type Sysinfo struct {
	Uptime                         int64
	Loads                          [3]uint64 // in 1/65536
	TotalRAM, FreeRAM, SharedRAM   uint64
	BufferRAM, TotalSwap, FreeSwap uint64
	Procs                          uint16
	_                              [6]byte
	TotalHigh, FreeHigh            uint64
	Unit                           uint32
	_                              [4]byte
}

// What arch_prctl does.
const (
	ARCH_SET_GS = 0x1001
	ARCH_SET_FS = 0x1002
	ARCH_GET_FS = 0x1003
	ARCH_GET_GS = 0x1004

	ARCH_GET_CPUID = 0x1011
	ARCH_SET_CPUID = 0x1012
)

// What prctl does: the part that is here.
const (
	PR_SET_PDEATHSIG       = 1
	PR_GET_PDEATHSIG       = 2
	PR_GET_DUMPABLE        = 3
	PR_SET_DUMPABLE        = 4
	PR_GET_KEEPCAPS        = 7
	PR_SET_KEEPCAPS        = 8
	PR_SET_NAME            = 15
	PR_GET_NAME            = 16
	PR_CAPBSET_READ        = 23
	PR_GET_TSC             = 25
	PR_SET_TSC             = 26
	PR_SET_TIMERSLACK      = 29
	PR_GET_TIMERSLACK      = 30
	PR_SET_CHILD_SUBREAPER = 36
	PR_GET_CHILD_SUBREAPER = 37
	PR_SET_NO_NEW_PRIVS    = 38
	PR_GET_NO_NEW_PRIVS    = 39
	PR_SET_VMA             = 0x53564d41
)

// Values of PR_SET_TSC.
const (
	PR_TSC_ENABLE  = 1
	PR_TSC_SIGSEGV = 2
)

// What futex does, and flags beside it.
const (
	FUTEX_WAIT           = 0
	FUTEX_WAKE           = 1
	FUTEX_FD             = 2
	FUTEX_REQUEUE        = 3
	FUTEX_CMP_REQUEUE    = 4
	FUTEX_WAKE_OP        = 5
	FUTEX_WAIT_BITSET    = 9
	FUTEX_WAKE_BITSET    = 10
	FUTEX_PRIVATE_FLAG   = 128
	FUTEX_CLOCK_REALTIME = 256
	FUTEX_BITSET_ALL     = 0xffffffff
	FUTEX_WAITERS        = 0x80000000
	FUTEX_OWNER_DIED     = 0x40000000
	FUTEX_TID_MASK       = 0x3fffffff
)

// RobustListHead is struct robust_list_head.
type RobustListHead struct {
	List    uint64
	Offset  int64
	Pending uint64
}
