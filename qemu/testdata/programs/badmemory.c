/* Calls that move bytes to and from memory which is there in part or not at all; it
 * prints the same on Linux. What a call could not store must still be in its file. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Two pages that may be used, and behind them one that may not: none at all, one to read
 * only, one without rights, one behind the end of its file. */
static char *good, *end;
static const char *kind;

static void say(const char *what, long r)
{
	int e = errno;

	printf("%s, %s: %ld %s\n", kind, what, r, r < 0 ? strerror(e) : "");
}

#define SAY(call) say(#call, call)

static char bytes[20 * PAGE];

static int file(void)
{
	char name[] = "/tmp/badmemoryXXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	if (pwrite(fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
		perror("pwrite");
	return fd;
}

/* same: the bytes at p are those of the file from off on. */
static const char *same(const char *p, int off, int n) { return memcmp(p, bytes + off, n) ? "others" : "these"; }

static void files(void)
{
	int fd = file(), n;
	struct iovec two[] = { { good, 10 }, { end, 10 } }, half[] = { { good, 100 }, { end - 7, 20 }, { good, 5 } };

	memset(good, 0, 2 * PAGE);
	SAY(read(fd, end, 10));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(n = read(fd, end - 10, 30));
	printf("%s\n", same(end - 10, 0, 10));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(read(fd, end - PAGE - 10, 12 * PAGE));
	printf("%s\n", same(end - PAGE - 10, 10, PAGE + 10));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(pread(fd, end - 5, 30, 20));
	printf("%s\n", same(end - 5, 20, 5));
	SAY(pread(fd, end, 30, 20));
	SAY(readv(fd, two, 2));
	SAY(readv(fd, two + 1, 1));
	SAY(readv(fd, half, 3));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(preadv(fd, half, 3, 50));
	SAY(preadv(fd, two + 1, 1, 50));
	SAY(lseek(fd, sizeof(bytes), SEEK_SET));
	SAY(read(fd, end, 10));
	SAY(pread(fd, end, 10, sizeof(bytes) - 5));
	SAY(read(fd, end, 0));
	close(fd);
}

static void fill(int fd, int n) { if (write(fd, bytes, n) != n) perror("fill"); }

static int left(int fd)
{
	int n = -1;

	ioctl(fd, FIONREAD, &n);
	return n;
}

static void pipes(void)
{
	int p[2];
	struct iovec two[] = { { good, 10 }, { end, 10 } }, half[] = { { good, 4 }, { end - 4, 20 } };

	pipe2(p, O_NONBLOCK);
	SAY(read(p[0], end, 10));
	fill(p[1], 30);
	SAY(read(p[0], end, 10));
	SAY(left(p[0]));
	SAY(read(p[0], end - 10, 30));
	SAY(left(p[0]));
	SAY(readv(p[0], two + 1, 1));
	SAY(left(p[0]));
	SAY(read(p[0], good, 100));
	fill(p[1], 3 * PAGE);
	SAY(read(p[0], end - PAGE - 10, 3 * PAGE));
	SAY(left(p[0]));
	SAY(read(p[0], good, 2 * PAGE));
	printf("%s\n", same(good, PAGE, 2 * PAGE));
	fill(p[1], 60000);
	SAY(read(p[0], end - 1, 60000));
	SAY(left(p[0]));
	close(p[1]);
	for (int i = 0; i < 8; i++)
		read(p[0], good, 2 * PAGE);
	SAY(read(p[0], end, 10));
	close(p[0]);
}

static void events(void)
{
	int e = eventfd(7, EFD_NONBLOCK), ep = epoll_create1(0);
	struct epoll_event ev = { EPOLLIN, { .u64 = 5 } };

	SAY(read(e, end, 8));
	write(e, (uint64_t[]){ 3 }, 8);
	SAY(read(e, end - 4, 8));
	write(e, (uint64_t[]){ 3 }, 8);
	SAY(write(e, end, 8));
	SAY(read(e, end, 4));
	epoll_ctl(ep, EPOLL_CTL_ADD, e, &ev);
	SAY(epoll_wait(ep, (void *)end, 1, 0));
	SAY(epoll_wait(ep, (void *)(end - 4), 4, 0));
	SAY(epoll_wait(ep, (void *)good, 1, 0));
	SAY(epoll_ctl(ep, EPOLL_CTL_MOD, e, (void *)(end + PAGE)));
	close(e), close(ep);
}

static void into(void)
{
	int fd, out = file(), dir;

	memset(good, 0, 2 * PAGE);
	lseek(out, 0, SEEK_SET);
	strcpy(good, "/tmp/badmemory-link");
	symlink("some/target", good);
	SAY(readlink(good, end, 20));
	SAY(readlink(good, end - 5, 20));
	SAY(readlink(good, end - 5, 5));
	unlink(good);
	SAY(syscall(SYS_getcwd, end, 100));
	SAY(syscall(SYS_getcwd, end - 1, 100));
	SAY(getrandom(end, 10, 0));
	SAY(getrandom(end - 10, 30, 0));
	SAY(getrandom(end - PAGE - 10, 3 * PAGE, 0));
	mkdir("/tmp/badmemory-dir", 0700);
	dir = open("/tmp/badmemory-dir", O_RDONLY);
	SAY(syscall(SYS_getdents64, dir, end, 1000));
	SAY(syscall(SYS_getdents64, dir, end - 30, 1000));
	SAY(syscall(SYS_getdents64, dir, end - 30, 1000));
	SAY(syscall(SYS_getdents64, dir, good, 1000));
	close(dir);
	rmdir("/tmp/badmemory-dir");
	SAY(stat("/", (void *)(end - 8)));
	SAY(fstat(out, (void *)end));
	SAY(statfs("/", (void *)(end - 8)));
	SAY(uname((void *)(end - 8)));
	SAY(sysinfo((void *)(end - 8)));
	SAY(getrlimit(RLIMIT_CORE, (void *)(end - 8)));
	SAY(getrusage(RUSAGE_SELF, (void *)(end - 8)));
	SAY(syscall(SYS_times, end));
	SAY(syscall(SYS_gettimeofday, end, NULL));
	SAY(syscall(SYS_clock_gettime, CLOCK_REALTIME, end - 8));
	SAY(syscall(SYS_clock_getres, CLOCK_REALTIME, end - 8));
	SAY(syscall(SYS_time, end));
	SAY(syscall(SYS_getitimer, ITIMER_REAL, end - 8));
	SAY(syscall(SYS_getcpu, end, NULL));
	SAY(syscall(SYS_getresuid, good, good, end));
	SAY(syscall(SYS_pipe, end));
	SAY(syscall(SYS_pipe2, end - 4, O_CLOEXEC));
	SAY(fd = dup(0));
	close(fd);
	SAY(syscall(SYS_rt_sigaction, SIGUSR1, NULL, end - 8, 8));
	SAY(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, end, 8));
	SAY(syscall(SYS_rt_sigpending, end, 8));
	SAY(syscall(SYS_sigaltstack, NULL, end - 8));
	SAY(syscall(SYS_sched_getaffinity, 0, 1024, end));
	SAY(syscall(SYS_sched_getparam, 0, end));
	SAY(syscall(SYS_prctl, 16, end - 8));
	SAY(syscall(SYS_statx, AT_FDCWD, "/", 0, 0x7ff, end - 8));
	SAY(syscall(SYS_mincore, good, 3, end));
	SAY(syscall(SYS_capget, end, end));
	close(out);
}

static void waiting(void)
{
	int p[2];
	struct timespec ten = { 0, 10 };

	pipe(p);
	fill(p[1], 1);
	SAY(poll((void *)end, 1, 0));
	SAY(select(p[0] + 1, (void *)(end - 4), NULL, NULL, &(struct timeval){ 0, 0 }));
	if (fork() == 0)
		_exit(0);
	siginfo_t info;
	waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	SAY(waitid(P_ALL, 0, (void *)(end - 8), WEXITED | WNOWAIT) < 0);
	SAY(wait4(-1, (void *)end, 0, NULL) < 0);
	SAY(wait4(-1, NULL, 0, NULL));
	SAY(syscall(SYS_nanosleep, end - 8, NULL));
	SAY(syscall(SYS_nanosleep, &ten, end - 8));
	SAY(ioctl(p[0], FIONREAD, end));
	SAY(ioctl(p[0], FIONBIO, end + PAGE));
	close(p[0]), close(p[1]);
}

/* from: memory that can be read is good enough here, so the end is behind two pages more. */
static void from(char *end)
{
	int fd = file(), p[2];
	struct iovec two[] = { { good, 10 }, { end, 10 } }, half[] = { { good, 100 }, { end - 7, 20 }, { good, 5 } };

	pipe2(p, O_NONBLOCK);
	SAY(write(fd, end, 10));
	SAY(write(fd, end - 10, 30));
	SAY(write(fd, end - PAGE - 10, 3 * PAGE));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(pwrite(fd, end - 5, 30, 100));
	SAY(pwrite(fd, end, 30, 100));
	SAY(writev(fd, two, 2));
	SAY(writev(fd, half, 3));
	SAY(writev(fd, two + 1, 1));
	SAY(pwritev(fd, half, 3, 5));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(write(p[1], end, 10));
	SAY(write(p[1], end - 10, 30));
	SAY(write(p[1], end - PAGE - 10, 2 * PAGE));
	SAY(left(p[0]));
	SAY(writev(p[1], two + 1, 1));
	SAY(left(p[0]));
	SAY(write(fd, end, 0));
	SAY(open(end, O_RDONLY));
	SAY(open(end - 10, O_RDONLY));
	SAY(readv(fd, (void *)(end - 8), 1));
	SAY(readv(fd, (void *)(end - 8), 0));
	SAY(readv(fd, two, 1025));
	SAY(readv(fd, two, -1));
	two[0].iov_len = -1;
	SAY(readv(fd, two, 2));
	two[0].iov_len = 10, two[0].iov_base = (void *)-4096;
	SAY(readv(fd, two, 1));
	SAY(writev(fd, two, 1));
	SAY(read(fd, (void *)-4096, 1));
	SAY(read(fd, (void *)-4096, 0));
	SAY(write(fd, (void *)-4096, 1));
	SAY(read(fd, good, -1));
	SAY(pread(fd, good, 1, -1));
	SAY(pwrite(fd, good, 1, -1));
	SAY(preadv(fd, two, 1, -1));
	SAY(pread(p[0], good, 1, 0));
	SAY(pread(p[1], good, 1, 0));
	SAY(pwrite(p[0], good, 1, 0));
	SAY(preadv(p[0], two, 1, 0));
	SAY(preadv(p[0], two, 1, -1));
	SAY(sendfile(p[1], fd, (void *)end, 1));
	SAY(sendfile(p[1], fd, (void *)(end - 4), 1));
	SAY(syscall(SYS_copy_file_range, fd, end, fd, NULL, 1, 0));
	close(fd), close(p[0]), close(p[1]);
}

static void with(const char *name, int prot, int flags, int fd)
{
	kind = name;
	good = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	end = good + 2 * PAGE;
	munmap(end, 6 * PAGE);
	if (prot >= 0 && mmap(end, PAGE, prot, MAP_FIXED | flags, fd, 0) == MAP_FAILED)
		perror("mmap");
	files();
	pipes();
	events();
	into();
	waiting();
	from(prot == PROT_READ ? end + PAGE : end);
	munmap(good, 8 * PAGE);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 7 + i / PAGE + 1;
	with("unmapped", -1, 0, -1);
	with("read-only", PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	with("no rights", PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int fd = file();
	ftruncate(fd, 0);
	with("behind the end", PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	return 0;
}
