/* random SEED N: N system calls with arguments drawn from what goes wrong. The calls are
 * made by children, one after the other: what a child is depends on SEED and its place
 * alone. Prints how many calls there were, and calls whose result is neither a value nor
 * an error that Linux has. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define AREA (16 * PAGE)
#define CALLS 460 /* above the largest number that there is */
#define LIFE 400  /* calls of one child */

static volatile struct {
	long calls;	      /* made */
	long number;	      /* of the call that is being made */
	long bad, badNumber;  /* results that cannot be */
	long ok, failed;
	long aimed;	      /* each argument of each call has been an address of the kernel's so often */
} *shared;

static char *area, *readOnly, *noAccess; /* area ends before a hole */
static unsigned long state;

static unsigned long rnd(void) /* splitmix64 */
{
	unsigned long z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static long below(long n) { return rnd() % n; }

static const char *const names[] = {
	"a", "b", "d", "d/x", "d/../a", "", ".", "./a/b", "l", "l/l", "\xff\xfe", "/proc/self/maps", "nowhere/x",
};
#define NAMES (sizeof(names) / sizeof(*names))
static char longName[3 * PAGE];

static int wild; /* this call's arguments may be anything; else most are what is expected */

/* kernels is an address in what the kernel has: devices and stacks, text and slots, the heap, the
 * image, or anywhere in the upper half. */
static unsigned long kernels(void)
{
	switch (below(6)) {
	case 0: return 0xffff800000000000 + rnd() % (4ul << 30);
	case 1: return 0xffff81a004000000 + rnd() % (32ul << 20);
	case 2: case 3: return 0xffffffc000000000 + rnd() % (256ul << 20);
	case 4: return 0xffffffff84000000 + rnd() % (32ul << 20);
	default: return rnd() | 1ul << 63;
	}
}

static unsigned long pointer(void)
{
	switch (wild ? below(16) : below(4) ? 11 + below(5) : 0) {
	case 0: return 0;
	case 1: return (unsigned long)area + AREA - below(64);	/* its end is not there */
	case 2: return (unsigned long)readOnly + below(PAGE);
	case 3: return (unsigned long)noAccess + below(PAGE);
	case 4: return rnd();					/* mostly not canonical */
	case 5: return rnd() >> 17;				/* the program's half */
	case 6: case 7: return kernels();
	case 8: return (1ul << 47) + (rnd() >> 1);		/* the hole: mostly not canonical */
	case 9: return (unsigned long)&state - below(1 << 16);	/* this program */
	case 10: return (unsigned long)longName + below(2 * PAGE);
	case 11: case 12: return (unsigned long)names[below(NAMES)];
	default: return (unsigned long)area + below(AREA) / 8 * 8;
	}
}

static unsigned long number(void)
{
	switch (wild ? below(8) : 4 + 3 * below(2)) {
	case 0: return below(64);
	case 1: return 1ul << below(64);
	case 2: return (1ul << below(64)) - 1;
	case 3: return -below(200);
	case 4: return below(1 << 14);
	case 5: return PAGE * below(64);
	case 6: return rnd();
	default: return below(16);
	}
}

static unsigned long argument(void)
{
	switch (below(4)) {
	case 0: return number();
	case 1: return below(14); /* a descriptor, often */
	default: return pointer();
	}
}

/* scribble fills a piece of the area with what structures are made of. */
static void scribble(void)
{
	unsigned long *p = (unsigned long *)area + below(AREA / 8 - 16);

	for (int i = 0; i < 16; i++)
		p[i] = below(3) ? number() : pointer();
}

/* call makes a system call. What a fork returns to with 0 ends at once, and uses no
 * stack: it may have none, or this one. */
static long call(long n, unsigned long *a)
{
	register unsigned long r10 asm("r10") = a[3], r8 asm("r8") = a[4], r9 asm("r9") = a[5];
	long r, forks = n == SYS_clone || n == SYS_clone3 || n == SYS_fork || n == SYS_vfork;

	asm volatile("syscall; test %%rax, %%rax; jnz 1f; test %%rbx, %%rbx; jz 1f;"
		     "mov $60, %%eax; xor %%edi, %%edi; syscall; 1:"
		     : "=a"(r), "+D"(a[0]), "+r"(r10), "+r"(r8), "+r"(r9)
		     : "0"(n), "S"(a[1]), "d"(a[2]), "b"(forks)
		     : "rcx", "r11", "memory");
	return r;
}

/* tame keeps a call within this child: others must live on, and know what it did. */
static int tame(long n, unsigned long *a)
{
	switch (n) {
	case SYS_exit: case SYS_exit_group:
		return 0;
	case SYS_kill: case SYS_tkill: case SYS_tgkill: case SYS_rt_sigqueueinfo: case 297: case SYS_prlimit64:
	case SYS_setpgid: case SYS_sched_setaffinity:
		a[0] = below(8) ? getpid() : 0x7ffffff0;
		if (n == SYS_tgkill)
			a[1] = a[0];
		return 1;
	case SYS_pause: case SYS_rt_sigsuspend: case SYS_wait4: case SYS_waitid: case SYS_futex: case SYS_poll: case SYS_ppoll:
	case SYS_select: case SYS_pselect6: case SYS_nanosleep: case SYS_clock_nanosleep: case SYS_rt_sigtimedwait:
	case SYS_epoll_wait: case SYS_epoll_pwait: case 441: case SYS_rt_sigreturn:
		return below(4) == 0; /* these wait, or end the child */
	case SYS_munmap: case SYS_mprotect: case SYS_mremap: case SYS_madvise: case SYS_brk: case SYS_close_range:
		return below(4) == 0;
	}
	return 1;
}

static void openFiles(void)
{
	int p[2];

	for (int i = 0; i < 3; i++)
		dup2(open("/dev/null", O_RDWR), i);
	for (int i = 3; i < 64; i++)
		close(i);
	open("a", O_RDWR | O_CREAT, 0600);
	open("b", O_RDONLY | O_CREAT, 0600);
	mkdir("d", 0700);
	symlink("l", "l");
	open("d", O_RDONLY | O_DIRECTORY);
	pipe2(p, O_NONBLOCK);
	open("/dev/zero", O_RDWR);
	open("/dev/full", O_RDWR);
	open("/dev/urandom", O_RDWR);
	eventfd(0, EFD_NONBLOCK);
	epoll_create1(0);
	open("/proc/self/maps", O_RDONLY);
}

static void child(unsigned long seed)
{
	struct rlimit memory = { 64 << 20, 64 << 20 }, files = { 64, 64 };

	state = seed;
	setsid();
	openFiles();
	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < LIFE; i++) {
		unsigned long a[6];
		long n, r;

		wild = below(2);
		scribble();
		for (int j = 0; j < 6; j++)
			a[j] = argument();
		n = below(64) ? below(below(8) ? 335 : CALLS) : (long)number();
		if (below(4) == 0) {
			long aim = shared->aimed++;

			wild = 0;
			n = aim / 6 % CALLS;
			a[aim % 6] = kernels();
		}
		if (!tame(n, a)) {
			i--;
			continue;
		}
		shared->number = n;
		r = call(n, a);
		shared->calls++;
		if (r < -133) {
			shared->bad++;
			shared->badNumber = n;
		} else if (r < 0) {
			shared->failed++;
		} else {
			shared->ok++;
		}
	}
	_exit(0);
}

/* watch waits for a child, and kills one that has made no call for a while. */
static void watch(int pid)
{
	long last = -1;
	int still = 0;

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		usleep(2000);
		still = shared->calls == last ? still + 1 : 0;
		last = shared->calls;
		if (still == 20)
			kill(pid, SIGKILL);
		if (still == 20000) {
			printf("call %ld does not end by SIGKILL\n", shared->number);
			exit(1);
		}
	}
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *f) { return remove(path); }

int main(int argc, char **argv)
{
	unsigned long seed = atol(argv[1]);
	long n = atol(argv[2]), children = 0;
	char dir[64];

	snprintf(dir, sizeof(dir), "/tmp/random%lu", seed);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	area = mmap(NULL, AREA + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(area + AREA, PAGE);
	readOnly = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	noAccess = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(longName, 'x', sizeof(longName) - 1);
	while (shared->calls < n) {
		nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
		if (mkdir(dir, 0700) || chdir(dir)) {
			perror(dir);
			return 1;
		}
		int pid = fork();
		if (pid == 0)
			child(seed * 1000003 + children);
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		children++;
		watch(pid);
		chdir("/");
	}
	nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
	printf("%ld calls by %ld children: %ld values, %ld errors\n", shared->calls, children, shared->ok, shared->failed);
	if (shared->bad)
		printf("%ld results are neither, the last of call %ld\n", shared->bad, shared->badNumber);
	return shared->bad != 0;
}
