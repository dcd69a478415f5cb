package abi

// The signals.
const (
	SIGHUP    = 1
	SIGINT    = 2
	SIGQUIT   = 3
	SIGILL    = 4
	SIGTRAP   = 5
	SIGABRT   = 6
	SIGBUS    = 7
	SIGFPE    = 8
	SIGKILL   = 9
	SIGUSR1   = 10
	SIGSEGV   = 11
	SIGUSR2   = 12
	SIGPIPE   = 13
	SIGALRM   = 14
	SIGTERM   = 15
	SIGSTKFLT = 16
	SIGCHLD   = 17
	SIGCONT   = 18
	SIGSTOP   = 19
	SIGTSTP   = 20
	SIGTTIN   = 21
	SIGTTOU   = 22
	SIGURG    = 23
	SIGXCPU   = 24
	SIGXFSZ   = 25
	SIGVTALRM = 26
	SIGPROF   = 27
	SIGWINCH  = 28
	SIGIO     = 29
	SIGPWR    = 30
	SIGSYS    = 31
	SIGRTMIN  = 32 // of the kernel; C libraries keep the first two or three
	SIGMAX    = 64
)

// Special handlers of a Sigaction.
const (
	SIG_DFL = 0
	SIG_IGN = 1
)

// Flags of a Sigaction.
const (
	SA_NOCLDSTOP = 0x1
	SA_NOCLDWAIT = 0x2
	SA_SIGINFO   = 0x4
	SA_RESTORER  = 0x04000000
	SA_ONSTACK   = 0x08000000
	SA_RESTART   = 0x10000000
	SA_NODEFER   = 0x40000000
	SA_RESETHAND = 0x80000000
)

// What sigprocmask does with its set.
const (
	SIG_BLOCK   = 0
	SIG_UNBLOCK = 1
	SIG_SETMASK = 2
)

// Flags of a Stack.
const (
	SS_ONSTACK    = 1
	SS_DISABLE    = 2
	SS_AUTODISARM = 1 << 31

	MINSIGSTKSZ = 2048
)

// Why a signal was sent: Siginfo.Code.
const (
	SI_USER    = 0
	SI_KERNEL  = 0x80
	SI_QUEUE   = -1
	SI_TIMER   = -2
	SI_TKILL   = -6
	SI_MESGQ   = -3
	SI_ASYNCIO = -4

	CLD_EXITED    = 1
	CLD_KILLED    = 2
	CLD_DUMPED    = 3
	CLD_TRAPPED   = 4
	CLD_STOPPED   = 5
	CLD_CONTINUED = 6

	POLL_IN  = 1
	POLL_OUT = 2
	POLL_MSG = 3
	POLL_ERR = 4
	POLL_PRI = 5
	POLL_HUP = 6

	FPE_INTDIV  = 1
	FPE_FLTINV  = 7
	ILL_ILLOPN  = 2
	SEGV_MAPERR = 1
	SEGV_ACCERR = 2
	BUS_ADRALN  = 1
	BUS_ADRERR  = 2
	TRAP_BRKPT  = 1
	TRAP_TRACE  = 2
)

// Sigaction is struct sigaction of the kernel, not that of C libraries.
type Sigaction struct {
	Handler  uint64
	Flags    uint64
	Restorer uint64
	Mask     uint64
}

// Siginfo is siginfo_t. What Fields holds depends on the signal; the methods
// know.
type Siginfo struct {
	Signo  int32
	Errno  int32
	Code   int32
	_      int32
	Fields [112]byte
}

// SetSender fills in who sent the signal, for kill and similar calls.
func (s *Siginfo) SetSender(pid, uid uint32) {
	put32(s.Fields[0:], pid)
	put32(s.Fields[4:], uid)
}

// SetValue fills in the value of sigqueue.
func (s *Siginfo) SetValue(v uint64) { put64(s.Fields[8:], v) }

// SetTimer fills in which timer fired, how often it did so unheard, and its value.
func (s *Siginfo) SetTimer(id, overrun int32, value uint64) {
	put32(s.Fields[0:], uint32(id))
	put32(s.Fields[4:], uint32(overrun))
	s.SetValue(value)
}

// Timer returns which timer fired, Overrun how often it did so unheard, and Value what
// SetValue was given.
func (s *Siginfo) Timer() int32   { return int32(get32(s.Fields[0:])) }
func (s *Siginfo) Overrun() int32 { return int32(get32(s.Fields[4:])) }
func (s *Siginfo) Value() uint64  { return get64(s.Fields[8:]) }

// SetAddr fills in the address of a fault.
func (s *Siginfo) SetAddr(addr uint64) { put64(s.Fields[0:], addr) }

// SetPoll fills in which file is ready for what.
func (s *Siginfo) SetPoll(band int64, fd int32) {
	put64(s.Fields[0:], uint64(band))
	put32(s.Fields[8:], uint32(fd))
}

// Poll returns what SetPoll was given.
func (s *Siginfo) Poll() (band int64, fd int32) {
	return int64(get64(s.Fields[0:])), int32(get32(s.Fields[8:]))
}

// SetChild fills in what SIGCHLD and waitid tell; times in ticks.
func (s *Siginfo) SetChild(pid, uid uint32, status int32, user, system int64) {
	s.SetSender(pid, uid)
	put32(s.Fields[8:], uint32(status))
	put64(s.Fields[16:], uint64(user))
	put64(s.Fields[24:], uint64(system))
}

// Sender returns who sent the signal.
func (s *Siginfo) Sender() (pid, uid uint32) { return get32(s.Fields[0:]), get32(s.Fields[4:]) }

// Addr returns the address of a fault.
func (s *Siginfo) Addr() uint64 { return get64(s.Fields[0:]) }

// Status returns what SetChild was given.
func (s *Siginfo) Status() int32 { return int32(get32(s.Fields[8:])) }

// Times returns the times that SetChild was given.
func (s *Siginfo) Times() (user, system int64) {
	return int64(get64(s.Fields[16:])), int64(get64(s.Fields[24:]))
}

// Sigevent is struct sigevent.
type Sigevent struct {
	Value  uint64
	Signo  int32
	Notify int32
	TID    int32
	_      [44]byte
}

// What a Sigevent's Notify says.
const (
	SIGEV_SIGNAL    = 0
	SIGEV_NONE      = 1
	SIGEV_THREAD    = 2 // the C library's business: a signal for the kernel
	SIGEV_THREAD_ID = 4
)

// Stack is stack_t.
type Stack struct {
	SP    uint64
	Flags uint32
	_     uint32
	Size  uint64
}

// Sigcontext is struct sigcontext: the registers in a Ucontext.
type Sigcontext struct {
	R8, R9, R10, R11, R12, R13, R14, R15 uint64
	DI, SI, BP, BX, DX, AX, CX, SP, IP   uint64
	Flags                                uint64
	CS, GS, FS, SS                       uint16
	Err, Trapno, Oldmask, CR2            uint64
	FPState                              uint64 // address of an FXSAVE or XSAVE image, or 0
	_                                    [8]uint64
}

// Ucontext is struct ucontext of the kernel.
type Ucontext struct {
	Flags   uint64
	Link    uint64
	Stack   Stack
	Context Sigcontext
	Mask    uint64
}

// Flags of a Ucontext.
const (
	UC_FP_XSTATE         = 1
	UC_SIGCONTEXT_SS     = 2
	UC_STRICT_RESTORE_SS = 4
)

// Sigframe is struct rt_sigframe: what a handler finds on its stack.
type Sigframe struct {
	Restorer uint64 // the handler's return address
	Context  Ucontext
	Info     Siginfo
}

func put32(b []byte, v uint32) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

func put64(b []byte, v uint64) { put32(b, uint32(v)); put32(b[4:], uint32(v>>32)) }

func get32(b []byte) uint32 {
	_ = b[3]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func get64(b []byte) uint64 { return uint64(get32(b)) | uint64(get32(b[4:]))<<32 }
