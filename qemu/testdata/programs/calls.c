/* Calls that C libraries and shells make less often; it prints the same on Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static const char *fails(long result) { return result < 0 ? strerror(errno) : "no"; }

static volatile int hits;
static volatile siginfo_t last;
static void onSignal(int sig, siginfo_t *info, void *context) { hits++; last = *info; }

static void handle(int sig)
{
	struct sigaction a = { .sa_sigaction = onSignal, .sa_flags = SA_SIGINFO };
	sigaction(sig, &a, NULL);
	hits = 0;
}

/* timers: of POSIX, and of the time that the CPU is used. */
static void timers(void)
{
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec t = { .it_value = { 0, 20000000 } };
	timer_t id;
	handle(SIGRTMIN);
	e.sigev_value.sival_int = 42;
	printf("timer_create %d\n", timer_create(CLOCK_MONOTONIC, &e, &id));
	printf("timer_settime %d\n", timer_settime(id, 0, &t, NULL));
	while (!hits)
		usleep(1000); /* pause would miss a signal that has come before it */
	printf("code %d value %d overrun %d\n", last.si_code, last.si_value.sival_int, timer_getoverrun(id));
	printf("timer_delete %d\n", timer_delete(id));
	printf("again: fails, %s\n", fails(timer_delete(id)));
	for (int which = ITIMER_VIRTUAL; which <= ITIMER_PROF; which++) {
		struct itimerval v = { { 0, 10000 }, { 0, 10000 } }, off = { { 0 } };
		handle(which == ITIMER_PROF ? SIGPROF : SIGVTALRM);
		setitimer(which, &v, NULL);
		while (hits < 3)
			getppid();
		setitimer(which, &off, NULL);
		printf("itimer %d: done\n", which);
	}
}

/* pidfds: a child as a descriptor. */
static void pidfds(void)
{
	siginfo_t info = { 0 };
	pid_t pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	int fd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { fd, POLLIN, 0 };
	printf("pidfd %d, ready %d\n", fd, poll(&p, 1, 0));
	printf("send %ld\n", syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0));
	printf("ready %d\n", poll(&p, 1, -1));
	int r = waitid(P_PIDFD, fd, &info, WEXITED);
	printf("waitid %d, it is %d, code %d, status %d\n", r, info.si_pid == pid, info.si_code, info.si_status);
	close(fd);
}

/* fifos: two processes meet by name. */
static void fifos(void)
{
	struct stat st;
	char b[10] = "";
	unlink("/tmp/calls.fifo");
	printf("mkfifo %d\n", mkfifo("/tmp/calls.fifo", 0600));
	stat("/tmp/calls.fifo", &st);
	printf("mode %o\n", st.st_mode);
	printf("no reader: %s\n", fails(open("/tmp/calls.fifo", O_WRONLY | O_NONBLOCK)));
	if (!fork()) {
		int w = open("/tmp/calls.fifo", O_WRONLY);
		_exit(write(w, "hello", 5) != 5);
	}
	int r = open("/tmp/calls.fifo", O_RDONLY), n = read(r, b, 9);
	printf("read %d %s, then %zd\n", n, b, read(r, b, 9));
	wait(NULL);
	close(r);
	unlink("/tmp/calls.fifo");
}

static sigjmp_buf back;
static void onBus(int sig, siginfo_t *info, void *context) { last = *info; siglongjmp(back, 1); }

/* mapped: a file that is mapped, written and cut off. */
static void mapped(void)
{
	struct sigaction a = { .sa_sigaction = onBus, .sa_flags = SA_SIGINFO };
	char b[6] = "";
	int f = memfd_create("calls", 0);
	ftruncate(f, 8192);
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	pwrite(f, "hello", 5, 4096);
	printf("mapped: %s\n", m + 4096);
	memcpy(m + 4096, "HE", 2);
	pread(f, b, 5, 4096);
	printf("read: %s\n", b);
	sigaction(SIGBUS, &a, NULL);
	ftruncate(f, 100);
	if (!sigsetjmp(back, 1))
		printf("cut off, but %d\n", m[4096]);
	printf("code %d, there: %d\n", last.si_code, (char *)last.si_addr == m + 4096);
	printf("write from it: %s\n", fails(write(f, m + 4096, 5)));
	ftruncate(f, 8192);
	printf("longer again: %d\n", m[4096]);
	close(f);
}

/* locks: flock of two openings. */
static void locks(void)
{
	int a = open("/tmp/calls.lock", O_CREAT | O_RDWR, 0600), b = open("/tmp/calls.lock", O_RDWR);
	unlink("/tmp/calls.lock");
	printf("flock %d\n", flock(a, LOCK_EX));
	printf("of another: %s\n", fails(flock(b, LOCK_SH | LOCK_NB)));
	if (!fork()) {
		usleep(20000);
		flock(a, LOCK_UN);
		_exit(0);
	}
	printf("waited: %d\n", flock(b, LOCK_SH));
	wait(NULL);
	close(a);
	close(b);
}

static void *thread(void *gate)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%ld/stat", syscall(SYS_gettid));
	printf("a thread's folder: %d\n", access(path, F_OK));
	return NULL;
}

/* small: what the rest of C libraries asks for. */
static void small(void)
{
	struct timespec t;
	clockid_t clock;
	struct timeval past[2] = { { 5, 0 }, { 6, 7 } };
	struct stat st;
	pthread_t other;
	printf("clock_getcpuclockid %d\n", clock_getcpuclockid(0, &clock));
	printf("it runs: %d\n", clock_gettime(clock, &t) == 0 && (t.tv_sec || t.tv_nsec));
	int f = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	printf("O_TMPFILE %d, fallocate %d\n", f >= 0, posix_fallocate(f, 0, 1000));
	futimes(f, past);
	fstat(f, &st);
	printf("size %ld, modified %ld\n", (long)st.st_size, (long)st.st_mtime);
	close(f);
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	char *argv[] = { "true", NULL };
	if (!fork()) {
		fexecve(open("/bin/true", O_RDONLY), argv, environ);
		_exit(9);
	}
	int status;
	wait(&status);
	printf("fexecve: %d\n", status);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	timers();
	pidfds();
	fifos();
	mapped();
	locks();
	small();
	return 0;
}
