/* Calls about descriptors that wait, files and threads; it prints the same on Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *fails(long result) { return result < 0 ? strerror(errno) : "no"; }

static int ready(int fd, int ms)
{
	struct pollfd p = { fd, POLLIN };
	return poll(&p, 1, ms) == 1 ? p.revents : 0;
}

/* info prints the lines of /proc/self/fdinfo that are not numbers of this machine. */
static void info(int fd)
{
	char path[64], line[256];
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "mnt_id", 6) && strncmp(line, "ino", 3) && strncmp(line, "it_value", 8) && strncmp(line, "eventfd-", 8))
			fputs(line, stdout);
	if (f)
		fclose(f);
}

static void timers(void)
{
	uint64_t n = 0;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	printf("timerfd: flags %#x, read of nothing %s\n", fcntl(fd, F_GETFL), fails(read(fd, &n, 8)));
	printf("short read %s, write %s, pread %s\n", fails(read(fd, &n, 4)), fails(write(fd, &n, 8)), fails(pread(fd, &n, 8, 0)));
	struct itimerspec s = { { 0, 0 }, { 0, 1000000 } }, old;
	timerfd_settime(fd, 0, &s, NULL);
	printf("poll %#x\n", ready(fd, -1));
	info(fd);
	printf("read %zd", read(fd, &n, 8));
	printf(" of %d, again %s\n", (int)n, fails(read(fd, &n, 8)));
	timerfd_gettime(fd, &s);
	printf("left %ld %ld\n", (long)s.it_value.tv_sec, s.it_value.tv_nsec);
	s = (struct itimerspec){ { 1000, 0 }, { 5, 0 } };
	timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &s, NULL);
	s = (struct itimerspec){ { 3, 5 }, { 3600, 0 } };
	timerfd_settime(fd, 0, &s, &old);
	printf("old interval %ld\n", (long)old.it_interval.tv_sec);
	info(fd);
	s.it_value.tv_nsec = 1000000000;
	printf("refusals: %s, %s, %s", fails(timerfd_settime(fd, 0, &s, NULL)), fails(timerfd_settime(fd, 8, &old, NULL)), fails(timerfd_settime(0, 0, &old, NULL)));
	printf(", %s, %s, %s\n", fails(timerfd_create(2, 0)), fails(timerfd_create(1, 1)), fails(timerfd_gettime(99, &old)));
	close(fd);
}

static void signals(void)
{
	struct signalfd_siginfo i[4];
	sigset_t set, none;
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_NONBLOCK);
	printf("signalfd: flags %#x, nothing %s, short %s, write %s\n", fcntl(fd, F_GETFL), fails(read(fd, i, 128)), fails(read(fd, i, 127)), fails(write(fd, i, 128)));
	info(fd);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1);
	union sigval v = { .sival_ptr = (void *)0x123456789 };
	sigqueue(getpid(), SIGRTMIN + 3, v);
	sigqueue(getpid(), SIGRTMIN + 3, v);
	pid_t child = fork();
	if (child == 0) {
		int empty = read(fd, i, sizeof i) == -1 && errno == EAGAIN;
		raise(SIGUSR1);
		_exit(empty && read(fd, i, sizeof i) == 128 && i[0].ssi_signo == SIGUSR1 ? 7 : 8);
	}
	waitid(P_PID, child, (siginfo_t[1]){}, WEXITED | WNOWAIT);
	printf("poll %#x", ready(fd, -1));
	printf(", read %zd\n", read(fd, i, sizeof i));
	for (int k = 0; k < 4; k++)
		printf("signal %d code %d me %d child %d status %d int %d ptr %llx\n", i[k].ssi_signo, i[k].ssi_code, i[k].ssi_pid == getpid(),
			i[k].ssi_pid == child, i[k].ssi_status, i[k].ssi_int, (unsigned long long)i[k].ssi_ptr);
	printf("again %s\n", fails(read(fd, i, 128)));
	waitpid(child, NULL, 0);
	printf("change %d, refusals: %s, %s, %s\n", signalfd(fd, &none, 0) == fd, fails(signalfd(0, &set, 0)), fails(signalfd(99, &set, 0)), fails(signalfd(-1, &set, 1)));
	kill(getpid(), SIGUSR1);
	printf("not of interest %d\n", ready(fd, 0));
	int ep = epoll_create1(0);
	signalfd(fd, &set, 0);
	struct epoll_event e = { EPOLLIN, { .u64 = 5 } };
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	printf("epoll %d\n", epoll_wait(ep, &e, 1, -1));
	read(fd, i, 128);
	printf("epoll %d\n", epoll_wait(ep, &e, 1, 0));
	close(ep);
	close(fd);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void put(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	write(fd, text, strlen(text));
	close(fd);
}

static const char *get(const char *name)
{
	static char text[100];
	int fd = open(name, O_RDONLY), n = read(fd, text, 99);
	close(fd);
	text[n < 0 ? 0 : n] = 0;
	return n < 0 ? strerror(errno) : text;
}

static long re(const char *from, const char *to, unsigned flags)
{
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static void renames(void)
{
	mkdir("d", 0755);
	mkdir("d/e", 0755);
	put("a", "A");
	put("d/b", "B");
	printf("renameat2: exchange %s", fails(re("a", "d/b", RENAME_EXCHANGE)));
	printf(": %s", get("a"));
	printf(" %s\n", get("d/b"));
	printf("file and directory %s", fails(re("a", "d/e", RENAME_EXCHANGE)));
	printf(": %s", get("d/e"));
	struct stat s;
	stat("d", &s);
	printf(", %s, links %d\n", get("a"), (int)s.st_nlink);
	printf("refusals: %s, %s, %s, %s", fails(re("a", "none", RENAME_EXCHANGE)), fails(re("none", "a", RENAME_EXCHANGE)), fails(re("d", "d/b", RENAME_EXCHANGE)), fails(re("d/b", "d", RENAME_EXCHANGE)));
	printf(", %s, %s, %s, %s", fails(re("a", "d", RENAME_NOREPLACE)), fails(re("a", "d", 3)), fails(re("a", "d", 8)), fails(re("d/b/", "a", RENAME_EXCHANGE)));
	printf(", %s, %s\n", fails(re("a", "d/b/", RENAME_EXCHANGE)), fails(re("a", "d/..", RENAME_NOREPLACE)));
	printf("itself %s", fails(re("a", "a", RENAME_EXCHANGE)));
	printf(", no replace %s\n", fails(re("a", "c", RENAME_NOREPLACE)));
	unlink("d/b"); unlink("d/e"); rmdir("c"); rmdir("d");
}

static void holes(void)
{
	int fd = open("sparse", O_CREAT | O_RDWR | O_TRUNC, 0644);
	pwrite(fd, "x", 1, 8192);
	pwrite(fd, "x", 1, 5 << 20);
	ftruncate(fd, 16 << 20);
	printf("holes: data %ld %ld %ld", (long)lseek(fd, 0, SEEK_DATA), (long)lseek(fd, 9000, SEEK_DATA), (long)lseek(fd, 12288, SEEK_DATA));
	printf(", holes %ld %ld %ld", (long)lseek(fd, 1, SEEK_HOLE), (long)lseek(fd, 8192, SEEK_HOLE), (long)lseek(fd, 5 << 20, SEEK_HOLE));
	printf(", %s, %s, %s, %s\n", fails(lseek(fd, 6 << 20, SEEK_DATA)), fails(lseek(fd, 16 << 20, SEEK_HOLE)), fails(lseek(fd, -1, SEEK_DATA)), fails(lseek(fd, 0, 5)));
	printf("position %ld\n", (long)lseek(fd, 0, SEEK_CUR));
	close(fd);
	unlink("sparse");
}

static void niceness(void)
{
	char line[1024];
	long priority, nice;
	setpriority(PRIO_PROCESS, 0, 5);
	if (fork() == 0) {
		setpriority(PRIO_PGRP, 0, 30);
		_exit(getpriority(PRIO_PROCESS, 0));
	}
	int status;
	wait(&status);
	printf("nice: the child %d, the parent %d, its group %d\n", WEXITSTATUS(status), getpriority(PRIO_PROCESS, getpid()), getpriority(PRIO_PGRP, 0));
	setpriority(PRIO_PROCESS, getpid(), -5);
	FILE *f = fopen("/proc/self/stat", "r");
	fgets(line, sizeof line, f);
	fclose(f);
	sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %ld %ld", &priority, &nice);
	printf("stat %ld %ld, ", priority, nice);
	setpriority(PRIO_PROCESS, 0, 0);
	errno = 0;
	getpriority(PRIO_PROCESS, 1 << 22);
	printf("%s, ", strerror(errno));
	getpriority(9, 0);
	printf("%s, %s\n", strerror(errno), fails(setpriority(PRIO_USER, 12345, 0)));
}

static long barrier(unsigned cmd, unsigned flags) { return syscall(SYS_membarrier, cmd, flags, 0); }

static void barriers(void)
{
	printf("membarrier: %#lx, unregistered %s, %s", barrier(0, 0) & 0x7f, fails(barrier(8, 0)), fails(barrier(32, 0)));
	printf(", register %ld", barrier(16, 0));
	printf(", registered %ld\n", barrier(8, 0));
	if (fork() == 0)
		_exit(barrier(8, 0) == 0);
	int status;
	wait(&status);
	printf("a fork %d, global %ld, expedited %ld, refusals: %s, %s, %s\n", WEXITSTATUS(status), barrier(1, 0), barrier(2, 0), fails(barrier(3, 0)), fails(barrier(1, 1)), fails(barrier(1 << 20, 0)));
}

static void splices(void)
{
	int p[2], q[2];
	char text[100] = { 0 };
	pipe2(p, O_NONBLOCK);
	pipe(q);
	put("from", "0123456789");
	int in = open("from", O_RDONLY), out = open("to", O_CREAT | O_RDWR, 0644), more = open("to", O_WRONLY | O_APPEND);
	loff_t off = 3, at = 2;
	printf("splice: empty %s", fails(splice(p[0], NULL, out, NULL, 10, 0)));
	printf(", from a file %zd", splice(in, &off, p[1], NULL, 4, 0));
	printf(", offset %ld, position %ld", (long)off, (long)lseek(in, 0, SEEK_CUR));
	printf(", by position %zd", splice(in, NULL, p[1], NULL, 2, 0));
	printf(", tee %zd", tee(p[0], q[1], 100, 0));
	printf(", to a file %zd", splice(p[0], NULL, out, &at, 100, 0));
	printf(", offset %ld, nothing left %s\n", (long)at, fails(splice(p[0], NULL, out, NULL, 10, 0)));
	printf("pipe to pipe %zd", splice(q[0], NULL, p[1], NULL, 3, 0));
	printf(" of %zd", read(p[0], text, 100));
	printf(" %.3s, rest %zd", text, read(q[0], text + 3, 100));
	printf(" %s, file %zd", text + 3, pread(out, text, 100, 2));
	printf(" %s\n", text);
	printf("refusals: %s, %s", fails(splice(in, NULL, out, NULL, 1, 0)), fails(splice(p[0], NULL, p[1], NULL, 1, 0)));
	printf(", %s, %s", fails(splice(p[0], &off, out, NULL, 1, 0)), fails(splice(p[1], NULL, out, NULL, 1, 0)));
	printf(", %s, %s, %s", fails(splice(p[0], NULL, more, NULL, 1, 0)), fails(splice(p[0], NULL, out, NULL, 1, 99)), fails(splice(99, NULL, out, NULL, 1, 0)));
	off = -1;
	printf(", %s, %s\n", fails(splice(in, &off, p[1], NULL, 1, 0)), fails(splice(in, (loff_t *)8, p[1], NULL, 1, 0)));
	printf("tee: %s, %s, %s, %s\n", fails(tee(p[0], p[1], 1, 0)), fails(tee(in, p[1], 1, 0)), fails(tee(p[0], q[1], 1, 0)), fails(tee(q[0], p[1], 1, SPLICE_F_NONBLOCK)));
	struct iovec v[2] = { { "abc", 3 }, { "defg", 4 } }, w[2] = { { text, 2 }, { text + 2, 50 } };
	memset(text, 0, sizeof text);
	printf("vmsplice: %zd", vmsplice(p[1], v, 2, 0));
	printf(", back %zd", vmsplice(p[0], w, 2, 0));
	printf(" %s, refusals: %s, %s, %s\n", text, fails(vmsplice(in, v, 1, 0)), fails(vmsplice(p[1], v, 1025, 0)), fails(vmsplice(p[1], (void *)8, 1, 0)));
	int n = 0;
	while (vmsplice(q[1], v, 2, SPLICE_F_NONBLOCK) > 0 && n < 100000)
		n++;
	printf("full %s", fails(splice(in, NULL, q[1], NULL, 1, SPLICE_F_NONBLOCK)));
	signal(SIGPIPE, SIG_IGN);
	close(q[0]);
	printf(", broken %s", fails(splice(in, NULL, q[1], NULL, 1, 0)));
	close(p[1]);
	printf(", the end %zd\n", splice(p[0], NULL, out, NULL, 1, 0));
	close(p[0]); close(q[1]); close(in); close(out); close(more);
	unlink("from"); unlink("to");
}

int main(void)
{
	char dir[] = "/tmp/fdcallsXXXXXX";
	if (chdir(mkdtemp(dir)))
		return 1;
	setvbuf(stdout, NULL, _IONBF, 0);
	timers();
	signals();
	renames();
	holes();
	niceness();
	barriers();
	splices();
	return rmdir(dir);
}
