/* greedy WHAT: takes more and more of something until it gets no more, and says what
 * ended that. What it prints does not depend on how much there is. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void limit(int which, long n)
{
	struct rlimit l = { n, n };

	if (setrlimit(which, &l))
		perror("setrlimit");
}

/* forks: children that wait. */
static void forks(long n)
{
	int status, made = 0;

	if (n)
		limit(RLIMIT_NPROC, n);
	for (; made < 100000; made++) {
		int pid = fork();
		if (pid == 0) {
			pause();
			_exit(0);
		}
		if (pid < 0)
			break;
	}
	printf("fork: %s\n", strerror(errno));
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(&status) > 0)
		made--;
	printf("%d children left\n", made);
}

static int statusOf(void (*f)(long), long n)
{
	int status;

	fflush(stdout);
	if (fork() == 0) {
		f(n);
		_exit(7);
	}
	wait(&status);
	return status;
}

/* memory: touched page by page, until there is none. */
static void eat(long size)
{
	if (size)
		limit(RLIMIT_AS, size);
	for (;;) {
		char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED) {
			printf("mmap: %s\n", strerror(errno));
			fflush(stdout);
			return;
		}
		memset(p, 1, 1 << 20);
	}
}

static void memory(long size)
{
	int status = statusOf(eat, size);

	printf("status %d, signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
}

/* reading: the kernel fills the memory, and cannot. */
static void fill(long n)
{
	char *p = mmap(NULL, 8ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int zero = open("/dev/zero", O_RDONLY);

	for (unsigned long at = 0; at < 8ul << 30; at += 1 << 26) {
		long r = read(zero, p + at, 1 << 26);
		if (r != 1 << 26)
			break;
	}
}

static void reading(long n)
{
	int status = statusOf(fill, 0);

	printf("ended: %s\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL || WEXITSTATUS(status) == 7 ? "yes" : "no");
}

/* file: a file in memory, until there is none. */
static void file(long n)
{
	static char block[1 << 16];
	int f = open("/tmp/greedy", O_RDWR | O_CREAT, 0600);

	memset(block, 1, sizeof(block));
	while (write(f, block, sizeof(block)) > 0)
		;
	printf("write: %s\n", errno == ENOMEM || errno == ENOSPC ? "no space" : strerror(errno));
	unlink("/tmp/greedy");
}

static void descriptors(long n)
{
	int made, last = 0, p[2];

	if (n)
		limit(RLIMIT_NOFILE, n);
	while ((made = open("/dev/null", O_RDONLY)) >= 0)
		last = made;
	printf("open: %s after %d\n", strerror(errno), last);
	printf("pipe: %d\n", pipe(p) ? errno : 0);
	close(3);
	printf("pipe with room for one: %d\n", pipe(p) ? errno : 0);
	printf("dup: %d\n", dup(0));
}

static void *wait_(void *x) { for (;;) pause(); }

static void threads(long n)
{
	pthread_attr_t a;
	pthread_t t;
	int err;

	if (n)
		limit(RLIMIT_NPROC, n);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 16384);
	while (!(err = pthread_create(&t, &a, wait_, NULL)))
		;
	printf("pthread_create: %s\n", strerror(err));
}

static int deep(int n)
{
	volatile char big[4096];

	big[0] = n;
	return deep(n + 1) + big[0];
}

static void recurse(long n) { deep(0); }

static void stack(long n)
{
	if (n)
		limit(RLIMIT_STACK, n);
	printf("recursion: signal %d\n", WTERMSIG(statusOf(recurse, 0)));
}

static void fault(long n) { *(volatile char *)n = 1; }

static void crash(long n) { printf("signal %d\n", WTERMSIG(statusOf(fault, n))); }

static void ask(long n) { printf("call %ld: %ld\n", n, syscall(n)); }

/* call: a system call of that number, by a child. */
static void call(long n) { printf("signal %d\n", WTERMSIG(statusOf(ask, n))); }

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(long); } all[] = {
		{ "forks", forks }, { "memory", memory }, { "reading", reading }, { "file", file },
		{ "descriptors", descriptors }, { "threads", threads }, { "stack", stack }, { "crash", crash }, { "call", call },
	};

	setpgid(0, 0);
	for (int i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name)) {
			all[i].f(argc > 2 ? strtol(argv[2], NULL, 0) : 0);
			return 0;
		}
	return 2;
}
