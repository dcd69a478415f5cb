// Package proc implements processes and threads: how they begin, run, get signals and end.
// It follows Linux's rules but has no system calls; a Table is given the handler for those.
//
// A thread is a goroutine in a loop (run.go): a CPU runs the program until something
// happens, the loop handles that, and so on. So a system call is a function call in that
// goroutine, and blocking is ordinary Go. A thread runs on a CPU: arch/amd64/user on the
// machine, an interpreter of small scripts in tests.
//
// Before a thread lets the program run again, its loop checks one flag, work. To make a
// thread do something (handle a signal, stop, end), a caller notes it under Table.mu, sets
// the flag, puts a token into the thread's channel, and kicks its CPU. A call that blocks
// gets the channel from Cancel, and returns EINTR when it receives the token; whether the
// call is restarted is decided when the signal is delivered (deliver.go).
//
// Most of its tests are those of linux/syscall: what a program does is to make system calls. Of 54
// files of tests there, 50 make them by their numbers, 161 in all, which tests here would need, too.
//
// Process 1 is the kernel. It has no threads. Programs that the kernel starts are its
// children, and it adopts orphans.
//
// Rejected: a lock per process. Parents, groups, stops, ends and pending signals form one
// tree of facts, and nearly every event concerns several of its nodes; a single lock needs
// no lock order. It is held for moments only: never while memory is copied, a file is used,
// or a goroutine sleeps.
//
// Locks: Table.mu, innermost. Functions whose comment says "mu held" are called
// with it.
//
// # Decisions
//
// What programs need is linux/, and kernel/ does not import it. The line is drawn by what the
// prompt uses in an image without programs (-nolinux). So pipes, archives and Linux's numbers
// (kernel/vfs/pipe, kernel/vfs/initramfs, kernel/abi) are in kernel/, although programs use
// them too: the prompt has pipes, and its files come from an archive. The packages kept their names
// when they moved, also those that sound alike: proc is what processes do, process their files in
// /proc, program what an executable file says, usermode what the CPUs need. linux/event has
// epoll beside eventfd, timerfd and inotify.
//
// One lock for all processes. Parents, groups, stopped and ended processes and pending signals are
// one tree of facts, and nearly every event touches several of its nodes. The end of a process wakes
// its parent, gives its children a new parent, and may hang up a group. A lock per process needs an
// order for each of these, and Linux has two more locks for the same reason. This one is held only
// briefly, and never while memory is copied or a goroutine sleeps (linux/proc/doc.go).
//
// A blocked call is woken by a token in a channel, and checks again. The alternative, a channel
// that is closed for each signal, allocates each time and has to be replaced at the right moment. The
// token may be an old one. The call then returns EINTR although no handler runs, and is restarted, as
// after a stop.
//
// All code that serves system calls releases its locks by defer. A panic in a call kills the
// program only, so the locks it held must not stay taken. The alternative, to let nothing in a
// critical section panic, cannot be checked: an index, a nil pointer and a full heap are everywhere.
// defer can be checked: a test reads all Go files below
// kernel/{vfs,poll,tty,proc,mm,syscall,procfs,strace} and requires it in the statement after each
// Lock. It costs a few instructions. The end of a process has several parts (engines, futexes,
// files, memory), each of which is done even if one before it panicked, so no process waits for ever
// for one that has ended.
//
// Short calls are answered before the thread's goroutine runs again. getpid took 410 instructions,
// of which its own function took six: the rest stored and loaded XMM registers and looked for work
// that a call without effects cannot have left. Now it takes 169. Rejected:
//
//   - Results that are kept beside the registers and returned by assembly: it would take half of that,
//     but for constants only, and no probe on syscall.getpid would be hit.
//   - Saving no XMM registers on the usual way of such a call: 36 instructions of 410.
//   - To take the usual way while Handle is probed: the packages of probes would have to know of it.
//     strace and other engines see each call.
//   - Locks taken by TryLock, for more kinds of calls: a probe handler may not take one, and with
//     interrupts off the holder might never run.
//
// The load counts programs only. /proc/loadavg samples every five seconds how many processes run
// or want to. The kernel's own goroutines have no state that says so. Of a CPU's time, /proc/stat
// knows what was idle. How much of the rest the programs used is known only for all CPUs together, and
// every CPU shows the same share.
//
// What programs make the kernel store is counted where it is stored. A limit on the whole heap
// cannot say which program is to blame. So:
//
//   - Each name in the tree counts as a page of the files' limit, and so do the tables of sparse files.
//   - Pipes share 16 MiB, and beyond that hold one page each.
//   - Extended attributes share 16 MiB.
//   - The contents of open files in /proc share 32 MiB.
//   - Pseudo-terminals share 8 MiB of output, and beyond that hold 8 KiB each.
//   - Sets of epoll share 65,536 items, and instances of inotify as many events.
//   - 16,384 connections may wait to be accepted.
//   - The open files of all programs are limited as in Linux: one for each 10 KiB of memory
//     (fs.file-max).
//   - Open directories that are being read hold 262,144 entries in all.
//   - All programs together have one area for each 2 KiB of memory at most.
//   - What processes load by bpf(2), programs and BTF, shares a sixteenth of sysctl kernel.bpf_memory,
//     as it was loaded. It takes up to twenty times as much in memory.
//   - Pending signals (of a process and its threads together) and timers are limited by
//     RLIMIT_SIGPENDING.
//
// The vDSO is Go assembly, and its data has no sequence counter. Its functions are linked into the
// kernel as any other, and copied at boot, with an ELF header in front of them. So no other compiler
// takes part, no binary file is in the repository, and the host's tests call the same bytes. Linux
// counts the changes of its data, because the time is set and adjusted. Here, the factor of the TSC
// and the offset of the wall clock are set at boot, before the first program, and never again: there
// is no settimeofday. Both pages are mapped privately. A program that changes them, or one in which
// a probe is placed, has a copy of its own. The number of the CPU is the limit of a segment, which LSL
// reads: RDTSCP and RDPID would need processors that have them.
//
// rseq is refused without a line in the log. At its start, glibc registers each thread's area of
// restartable sequences, and continues without them if it gets ENOSYS, as on a Linux without them. It
// uses them for sched_getcpu. To provide them, the kernel would have to write the CPU's number to
// the program's memory on the way to ring 3, after interrupts are off and the CPU cannot change any
// more. The page may be absent then, and each system call would have to do all of that.
// /proc/unknown_syscalls counts the call.
//
// strace is a command of the kernel, not a program with ptrace. It is an engine: it is informed of
// calls in the goroutine of the thread that makes them, it stops nothing, and a process does not
// notice it. The price: it sees a program that the shell starts only from its first instruction, so
// the line for execve is made up from what the program was started with. Its formats are those of
// strace 6.1, compared by hand with the host's. -c counts time from entry to return, as strace does
// with -w.
//
// Waiters are linked by hand, in kernel/poll and in linux/futex. It is the same list twice, of
// twenty lines. With container/list there would be one, but each wait would allocate an element: a
// round trip by a futex took 12,105 instructions instead of 11,271.
package proc
