/*
 * ubench.c - what the primitives of an operating system cost, seen from a program.
 *
 *   gcc -O2 -static -o ubench ubench.c
 *   ubench [-v] [-l] [-t MS] [ROW...]    only these rows; -ROW leaves one out; -l lists
 *                                        them; a round takes about MS, usually 120
 *
 * stdout: TSV, name<TAB>value; nanoseconds per operation, or milliseconds where
 * the name ends in _ms; the median of ROUNDS rounds.  A row that does not work
 * prints FAIL and a reason.  -v adds a line "# name n=COUNT" with every round.
 *
 * The same file runs on a host, in a shell and as pid 1 (then it mounts /dev and
 * /sys if it can, waits until the clock is settled and powers off at the end), on
 * Linux and on kernels that offer a part of its system calls.  No row needs more
 * than 33 MiB, or files other than this program; read1_zero and write1_null need
 * /dev, sh_100_true_ms a shell.
 *
 * A row is a function that does n operations and returns the nanoseconds that they
 * took, so it can prepare and clean up off the clock.  n starts at 1 and grows until
 * a round takes round_ns.  Rows run in the order of the table: the small process
 * first, so that threads and buffers of later rows do not make its forks slower.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, PAGE = 4096, BIG = 16 << 20, CHUNK = 2048 };
#define MUST(x) do { if ((long)(x) == -1) { why = #x; return -1; } } while (0)
#define MUST_BE(v, x) do { if ((long)(x) != (long)(v)) { why = #x; return -1; } } while (0)
#define TIMED(n, op) do { int64_t t0_ = now(); for (long i_ = 0; i_ < (n); i_++) op; ns += now() - t0_; } while (0)

static int64_t round_ns = 120 * 1000000LL;
static const char *why;			/* the step that failed; errno says how */
static const char *self = "/init";	/* this program's file */

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define ROW(name, before, op, after) \
	static int64_t name(long n) { int64_t ns = 0; before; TIMED(n, op); after; return ns; }

/* -------------------------------------------------------------- controls */
/* a dependent multiply and add, in registers */
ROW(alu, uint64_t x = n, asm volatile("imul $0x5851f42d, %0, %0\n\tadd $0x14057b7e, %0" : "+r"(x)), )

static char *anon(size_t size, int huge)	/* huge pages only where the kernel may choose */
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED && !huge)
		madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

static int64_t copy(long n, int libc)	/* 1 MiB, both sides present */
{
	char *a = anon(1 << 20, 0), *b = anon(1 << 20, 0);
	int64_t ns = 0;

	MUST(a);
	MUST(b);
	memset(a, 1, 1 << 20);
	memset(b, 2, 1 << 20);
	if (libc)
		TIMED(n, { memcpy(b, a, 1 << 20); asm volatile("" ::: "memory"); });
	else
		TIMED(n, for (long k = 0; k < 1 << 17; k++) {
			uint64_t w;
			asm volatile("mov %2, %0\n\tmov %0, %1" : "=&r"(w), "=m"(((uint64_t *)b)[k]) : "m"(((uint64_t *)a)[k]));
		});
	munmap(a, 1 << 20);
	munmap(b, 1 << 20);
	return ns;
}
static int64_t copy_words(long n) { return copy(n, 0); }
static int64_t copy_libc(long n) { return copy(n, 1); }

/* -------------------------------------------------------------- one call */
ROW(sys_getpid, , MUST(syscall(SYS_getpid)), )
ROW(yield, , MUST(sched_yield()), )
ROW(clock_sys, struct timespec t, MUST(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t)), )
ROW(clock_libc, struct timespec t, MUST(clock_gettime(CLOCK_MONOTONIC, &t)), )
ROW(stat_file, struct stat st, MUST(stat(self, &st)), )
ROW(open_close, int fd, { MUST(fd = open(self, O_RDONLY)); close(fd); }, )
ROW(read1_zero, int fd; char c; MUST(fd = open("/dev/zero", O_RDONLY)), MUST_BE(1, read(fd, &c, 1)), close(fd))
ROW(write1_null, int fd; MUST(fd = open("/dev/null", O_WRONLY)), MUST_BE(1, write(fd, "x", 1)), close(fd))

/* the first 64 KiB of this program, again and again */
static char buf[65536];
ROW(read64k, int fd; MUST(fd = open(self, O_RDONLY)), MUST_BE(sizeof(buf), pread(fd, buf, sizeof(buf), 0)), close(fd))

static int64_t pipe1(long n, int reading)	/* CHUNK bytes at a time: it never blocks */
{
	char some[CHUNK] = { 0 }, c;
	int64_t ns = 0;
	int p[2];

	MUST(pipe(p));
	for (long k; n > 0; n -= k) {
		k = n < CHUNK ? n : CHUNK;
		if (reading) {
			MUST_BE(k, write(p[1], some, k));
			TIMED(k, MUST_BE(1, read(p[0], &c, 1)));
		} else {
			TIMED(k, MUST_BE(1, write(p[1], "x", 1)));
			for (long got = 0, r; got < k; got += r)
				MUST((r = read(p[0], some, k - got)) > 0 ? 0 : -1);
		}
	}
	close(p[0]);
	close(p[1]);
	return ns;
}
static int64_t read1_pipe(long n) { return pipe1(n, 1); }
static int64_t write1_pipe(long n) { return pipe1(n, 0); }

/* -------------------------------------------------------------- signals */
static volatile long signals;
static void on_signal(int s) { (void)s; signals++; }

static int64_t signal_row(long n, int sig)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;
	int64_t ns = 0;

	MUST(sigaction(sig, &sa, &old));
	signals = 0;
	if (sig == SIGTRAP)
		TIMED(n, asm volatile("int3" ::: "memory"));
	else
		TIMED(n, MUST(syscall(SYS_tgkill, getpid(), gettid(), sig)));
	sigaction(sig, &old, NULL);
	errno = 0;
	MUST_BE(n, signals);
	return ns;
}
static int64_t signal_self(long n) { return signal_row(n, SIGUSR1); }
static int64_t int3(long n) { return signal_row(n, SIGTRAP); }

/* A timer that is set again in its handler, as short as can be, while the program waits. */
static timer_t timer;
static struct itimerspec soon = { .it_value = { 0, 1 } };
static void on_timer(int s)
{
	(void)s;
	if (--signals > 0)
		timer_settime(timer, 0, &soon, NULL);
}
static int64_t timer_signal(long n)
{
	struct sigaction sa = { .sa_handler = on_timer }, old;
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	int64_t ns = 0;
	sigset_t alrm, none;

	sigemptyset(&none);
	sigemptyset(&alrm);
	sigaddset(&alrm, SIGALRM);
	MUST(sigaction(SIGALRM, &sa, &old));
	MUST(timer_create(CLOCK_MONOTONIC, &e, &timer));
	sigprocmask(SIG_BLOCK, &alrm, NULL);
	signals = n;
	TIMED(1, {
		MUST(timer_settime(timer, 0, &soon, NULL));
		while (signals > 0)
			sigsuspend(&none);
	});
	sigprocmask(SIG_UNBLOCK, &alrm, NULL);
	timer_delete(timer);
	sigaction(SIGALRM, &old, NULL);
	return ns;
}

/* A timerfd of 1 us, whose end has come by the time that it is read. */
static struct itimerspec often = { { 0, 1000 }, { 0, 1000 } };
ROW(timerfd1, int fd; uint64_t ends; MUST(fd = timerfd_create(CLOCK_MONOTONIC, 0)); MUST(timerfd_settime(fd, 0, &often, NULL)),
	MUST_BE(8, read(fd, &ends, 8)), close(fd))

/* -------------------------------------------------------------- processes and threads */
static int reap(pid_t pid)		/* 0 when the child left with 0 */
{
	int st;

	while (waitpid(pid, &st, 0) != pid)
		if (errno != EINTR)
			return -1;
	return st ? -1 : 0;
}

ROW(fork_exit, pid_t pid, {
	MUST(pid = fork());
	if (!pid)
		_exit(0);
	MUST(reap(pid));
}, )

static int64_t spawn(long n, char *const argv[])
{
	int64_t ns = 0;

	TIMED(n, {
		pid_t pid;
		MUST(pid = fork());
		if (!pid) {
			execv(argv[0], argv);
			_exit(127);
		}
		MUST(reap(pid));
	});
	return ns;
}
static int64_t fork_exec(long n)
{
	return spawn(n, (char *[]){ (char *)self, "--exit", NULL });
}
static int64_t sh_100_true(long n)
{
	return spawn(n, (char *[]){ "/bin/sh", "-c", "i=0; while [ $i -lt 100 ]; do /bin/true || exit 1; i=$((i+1)); done", NULL });
}

static int64_t pipe_rt(long n)		/* there and back, between two processes */
{
	int a[2], b[2];
	int64_t ns = 0;
	pid_t pid;
	char c = 0;

	MUST(pipe(a));
	MUST(pipe(b));
	MUST(pid = fork());
	if (!pid) {
		close(a[1]);
		close(b[0]);
		while (read(a[0], &c, 1) == 1 && write(b[1], &c, 1) == 1)
			;
		_exit(0);
	}
	close(a[0]);
	close(b[1]);
	TIMED(n, { MUST_BE(1, write(a[1], &c, 1)); MUST_BE(1, read(b[0], &c, 1)); });
	close(a[1]);
	close(b[0]);
	MUST(reap(pid));
	return ns;
}

/* The child waits for signals and counts them; the parent sends until n have been counted. */
static int64_t signal_wake(long n)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;
	volatile long *got = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int64_t ns = 0;
	sigset_t usr1, none;
	pid_t pid;

	MUST(got);
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	MUST(sigaction(SIGUSR1, &sa, &old));
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	MUST(pid = fork());
	if (!pid)
		for (;;) {
			sigsuspend(&none);
			++*got;
		}
	while (!*got)
		kill(pid, SIGUSR1);	/* until it waits */
	TIMED(1, for (long end = *got + n; *got < end;) MUST(kill(pid, SIGUSR1)));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	sigaction(SIGUSR1, &old, NULL);
	munmap((void *)got, PAGE);
	return ns;
}

static int64_t yield_two(long n)	/* two processes that yield, both counted */
{
	int64_t ns = 0;
	pid_t pid;

	MUST(pid = fork());
	if (!pid)
		for (;;)
			sched_yield();
	TIMED(n, MUST(sched_yield()));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ns;
}

static int ball[2];			/* ball[i] is set by the other side, cleared by side i */
static long rallies;

static void pass(int to)
{
	__atomic_store_n(&ball[to], 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &ball[to], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static void take(int me)
{
	while (!__atomic_load_n(&ball[me], __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &ball[me], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	__atomic_store_n(&ball[me], 0, __ATOMIC_SEQ_CST);
}
static void *partner(void *x)
{
	for (long i = 0; i < rallies; i++) {
		take(1);
		pass(0);
	}
	return x;
}
static int64_t futex_rt(long n)		/* there and back, between two threads */
{
	int64_t ns = 0;
	pthread_t t;

	ball[0] = ball[1] = 0;
	rallies = n;
	MUST_BE(0, errno = pthread_create(&t, NULL, partner, NULL));
	TIMED(n, { pass(1); take(0); });
	pthread_join(t, NULL);
	return ns;
}

static void *nothing(void *x) { return x; }
ROW(thread, pthread_t t, {
	MUST_BE(0, errno = pthread_create(&t, NULL, nothing, NULL));
	pthread_join(t, NULL);
}, )

/* -------------------------------------------------------------- memory */
ROW(mmap1, char *p, {
	MUST(p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	*(volatile char *)p = 1;
	munmap(p, PAGE);
}, )

/* to read-only and back, one present page */
ROW(mprotect2, char *p; MUST(p = anon(PAGE, 0)); *p = 1, {
	MUST(mprotect(p, PAGE, PROT_READ));
	MUST(mprotect(p, PAGE, PROT_READ | PROT_WRITE));
}, munmap(p, PAGE))
ROW(mprotect2_touch, char *p; MUST(p = anon(PAGE, 0)); *p = 1, {
	MUST(mprotect(p, PAGE, PROT_READ));
	MUST(mprotect(p, PAGE, PROT_READ | PROT_WRITE));
	*(volatile char *)p = 1;
}, munmap(p, PAGE))

static void touch(char *p)
{
	for (long i = 0; i < BIG; i += PAGE)
		*(volatile char *)(p + i) = 1;
}
static int64_t faults(long n, int huge)	/* n times 16 MiB of fresh memory */
{
	int64_t ns = 0;
	char *p;

	for (; n > 0; n--) {
		MUST(p = anon(BIG, huge));
		TIMED(1, touch(p));
		munmap(p, BIG);
	}
	return ns;
}
static int64_t fault(long n) { return faults(n, 0); }
static int64_t fault_any(long n) { return faults(n, 1); }

static int64_t cow(long n)		/* the child writes what both have; it has the watch */
{
	int64_t sum = 0, ns;
	char *p = anon(BIG, 0);
	pid_t pid;
	int fd[2];

	MUST(p);
	touch(p);
	MUST(pipe(fd));
	for (; n > 0; n--) {
		MUST(pid = fork());
		if (!pid) {
			ns = 0;
			TIMED(1, touch(p));
			_exit(write(fd[1], &ns, sizeof(ns)) != sizeof(ns));
		}
		MUST_BE(sizeof(ns), read(fd[0], &ns, sizeof(ns)));
		MUST(reap(pid));
		sum += ns;
	}
	close(fd[0]);
	close(fd[1]);
	munmap(p, BIG);
	return sum;
}

/* -------------------------------------------------------------- the table */
static const struct row {
	const char *name;
	int64_t (*run)(long n);
	double div;			/* units in one operation */
} rows[] = {
	{ "alu", alu, 1 },				/* control: imul + add */
	{ "copy_words_kib", copy_words, 1024 },		/* control: 8-byte loads and stores, per KiB */
	{ "memcpy_kib", copy_libc, 1024 },		/* libc's choice for the CPU, per KiB */
	{ "getpid", sys_getpid, 1 },
	{ "clock_gettime", clock_sys, 1 },		/* by system call */
	{ "clock_gettime_libc", clock_libc, 1 },
	{ "sched_yield", yield, 1 },
	{ "read1_zero", read1_zero, 1 },
	{ "write1_null", write1_null, 1 },
	{ "read1_pipe", read1_pipe, 1 },
	{ "write1_pipe", write1_pipe, 1 },
	{ "open_close", open_close, 1 },
	{ "stat", stat_file, 1 },
	{ "signal_self", signal_self, 1 },		/* tgkill, handler, return */
	{ "int3", int3, 1 },				/* SIGTRAP handler, return */
	{ "timer_signal", timer_signal, 1 },		/* timer_settime in the handler of its signal */
	{ "timerfd", timerfd1, 1 },			/* read: it has ended */
	{ "signal_wake", signal_wake, 1 },		/* kill wakes a process in sigsuspend */
	{ "yield_two", yield_two, 2 },			/* per call, of two processes */
	{ "pipe_rt", pipe_rt, 1 },
	{ "fork_exit", fork_exit, 1 },			/* and wait */
	{ "fork_exec", fork_exec, 1 },			/* this program, which leaves at once */
	{ "sh_100_true_ms", sh_100_true, 1e6 },		/* sh -c, 100 times /bin/true */
	{ "read64k_kib", read64k, 64 },			/* per KiB */
	{ "thread", thread, 1 },			/* create and join */
	{ "futex_rt", futex_rt, 1 },
	{ "mmap1", mmap1, 1 },				/* mmap, touch, munmap, one page */
	{ "mprotect2", mprotect2, 1 },			/* two calls */
	{ "mprotect2_touch", mprotect2_touch, 1 },	/* and a write behind them */
	{ "fault", fault, BIG / PAGE },			/* per page */
	{ "fault_any", fault_any, BIG / PAGE },		/* per page */
	{ "cow", cow, BIG / PAGE },			/* per page */
};

static int cmp(const void *a, const void *b)
{
	double x = *(double *)a, y = *(double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const struct row *r, int verbose)
{
	double t[ROUNDS];
	int64_t ns = 0;
	long n = 1;
	int i;

	why = NULL;
	errno = 0;
	while ((ns = r->run(n)) >= 0 && ns < round_ns / 10)
		n *= ns < round_ns / 80 ? 8 : 2;
	if (ns >= 0 && ns < round_ns)
		n = n * ((double)round_ns / ns) + 1;
	for (i = 0; i < ROUNDS && ns >= 0; i++)
		t[i] = (ns = r->run(n)) / (r->div * n);
	if (ns < 0) {
		printf("%s\tFAIL %s: %s\n", r->name, why, strerror(errno));
	} else {
		if (verbose) {
			printf("# %s n=%ld", r->name, n);
			for (i = 0; i < ROUNDS; i++)
				printf(" %.2f", t[i]);
			printf("\n");
		}
		qsort(t, ROUNDS, sizeof(t[0]), cmp);
		printf("%s\t%.2f\n", r->name, t[ROUNDS / 2]);
	}
	fflush(stdout);
}

static int wanted(const char *name, char **list)	/* named, or nothing is named and it is not left out */
{
	int named = 0;

	for (; *list; list++) {
		if (!strcmp(*list, name))
			return 1;
		if (**list == '-' && !strcmp(*list + 1, name))
			return 0;
		named |= **list != '-';
	}
	return !named;
}

/* Linux starts on one clock and changes its mind after a second or so. */
static void as_init(void)
{
	static const char src[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char b[64] = "unknown\n";
	int fd, i;

	mkdir("/dev", 0755);
	mkdir("/sys", 0755);
	if (access("/dev/null", F_OK))
		mount("none", "/dev", "devtmpfs", 0, NULL);
	mount("none", "/sys", "sysfs", 0, NULL);
	for (i = 0; i < 50; i++) {
		if ((fd = open(src, O_RDONLY)) < 0)
			break;
		if (read(fd, b, sizeof(b) - 1) < 0 || !strstr(b, "early"))
			i = 50;
		close(fd);
		usleep(100000);
	}
	sleep(2);
	printf("# clocksource %s", b);
}

int main(int argc, char **argv)
{
	const char *path = (const char *)getauxval(AT_EXECFN);
	int verbose = 0;
	struct utsname u;
	unsigned i;

	if (argc > 1 && !strcmp(argv[1], "--exit"))
		_exit(0);
	if (path && !access(path, R_OK))
		self = path;
	else if (argc > 0 && !access(argv[0], R_OK))
		self = argv[0];
	for (i = 1; i < (unsigned)argc; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose = 1;
		if (!strcmp(argv[i], "-t") && i + 1 < (unsigned)argc) {
			round_ns = strtol(argv[i + 1], NULL, 10) * 1000000LL;
			argv[i] = argv[i + 1] = "-";	/* no rows */
		}
		if (!strcmp(argv[i], "-l")) {
			for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
				puts(rows[i].name);
			return 0;
		}
	}
	if (getpid() == 1)
		as_init();
	if (verbose && !uname(&u))
		printf("# %s %s %s, %ld CPUs\n", u.sysname, u.release, u.version, sysconf(_SC_NPROCESSORS_ONLN));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (wanted(rows[i].name, argc ? argv + 1 : argv))
			measure(&rows[i], verbose);
	if (getpid() == 1) {
		puts("# done");
		fflush(stdout);
		sync();
		reboot(RB_POWER_OFF);
		reboot(RB_AUTOBOOT);
		for (;;)
			pause();
	}
	return 0;
}
