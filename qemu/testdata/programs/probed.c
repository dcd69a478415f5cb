/* Functions that are called a known number of times: for user probes. Each argument runs
 * one part; the exit status is 0 if all is as it should be. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noipa, noclone))

enum { ROUNDS = 1000, THREADS = 4 };
static volatile long sum;

PROBED long leaf(long a, long b) { return a * 3 + b; }
PROBED long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
PROBED long tail(long a) { return leaf(a, 1); }
PROBED long secret(void) { return 41; }
PROBED long peek(long *p) { return *p; }
PROBED void jumps(jmp_buf *b) { sum++; longjmp(*b, 1); }

static void calls(void)
{
	for (long i = 0; i < ROUNDS; i++)
		sum += leaf(i, 7);
}

static void *worker(void *arg)
{
	for (long i = 0; i < ROUNDS; i++)
		__atomic_add_fetch(&sum, leaf(i, (long)arg), __ATOMIC_SEQ_CST);
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (long i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void forks(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t p = fork();
		if (p == 0) {
			sum = leaf(1, 1);
			_exit(sum == 4 ? 0 : 1);
		}
		int status;
		waitpid(p, &status, 0);
		if (status != 0)
			exit(9);
		sum += leaf(i, 0);
	}
}

PROBED int forker(void) { return fork() == 0 ? -1 : 1; } /* returns twice */

static void twice(void)
{
	for (int i = 0; i < 10; i++) {
		if (forker() == -1)
			_exit(leaf(2, 2) == 8 ? 0 : 1);
		int status;
		wait(&status);
		if (status != 0)
			exit(8);
		sum++;
	}
}

static void vforks(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t p = vfork();
		if (p == 0) {
			leaf(1, 1);
			_exit(0);
		}
		int status;
		waitpid(p, &status, 0);
		if (status != 0)
			exit(7);
		sum += leaf(i, 0);
	}
}

static void longjmps(void)
{
	static volatile int i;
	for (i = 0; i < ROUNDS; i++) {
		jmp_buf b;
		if (setjmp(b) == 0)
			jumps(&b);
	}
}

static volatile sig_atomic_t taken;
static volatile unsigned long strange;
static void handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	unsigned long ip = c->uc_mcontext.gregs[16 /* REG_RIP */];
	extern char __executable_start, etext;
	if (ip < (unsigned long)&__executable_start || ip >= (unsigned long)&etext)
		strange = ip; /* not in this static program: a slot */
	taken++;
	sum += leaf(1, 1);
}

static void signals(void)
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	sigaction(SIGALRM, &a, NULL);
	ualarm(1000, 1000);
	for (long i = 0; taken < 20; i++)
		leaf(i, 1);
	ualarm(0, 0);
	if (strange) {
		printf("a signal saw %#lx\n", strange);
		exit(6);
	}
	sum = 0; /* how often leaf is called depends on the time */
}

/* The page of leaf is dropped, and comes back from the file. */
static void drops(void)
{
	long page = (long)leaf & -4096;
	for (long i = 0; i < 100; i++) {
		madvise((void *)page, 4096, MADV_DONTNEED);
		sum += leaf(i, 0);
	}
}

static void sigtrap(int sig) { taken++; }

/* Breakpoints of the program's own are its own business. */
static void traps(void)
{
	signal(SIGTRAP, sigtrap);
	for (int i = 0; i < 10; i++) {
		__asm__ volatile("int3");
		sum += leaf(i, 0);
	}
	if (taken != 10)
		exit(5);
}

static jmp_buf away;
static void segv(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	if (c->uc_mcontext.gregs[16] != (long)peek || info->si_addr != (void *)8)
		strange = c->uc_mcontext.gregs[16];
	longjmp(away, 1);
}

/* Faults of an instruction are seen at its place. */
static void faults(void)
{
	struct sigaction a = { .sa_sigaction = segv, .sa_flags = SA_SIGINFO | SA_NODEFER };
	sigaction(SIGSEGV, &a, NULL);
	for (volatile int i = 0; i < 10; i++)
		if (setjmp(away) == 0)
			sum += peek((long *)8);
		else
			sum += 1000;
	if (strange)
		exit(3);
}

/* Coroutines, which leave their stacks in the middle of calls and come back to them. */
enum { COROUTINES = 3, DEPTH = 10 };
static ucontext_t back, co[COROUTINES];
static char room[COROUTINES][1 << 15];
static int ended[COROUTINES];

PROBED long dive(long depth, int me)
{
	long r = depth == 0 ? 0 : dive(depth - 1, me);
	swapcontext(&co[me], &back);
	return r + 1;
}

static void body(int me)
{
	sum += dive(DEPTH, me);
	ended[me] = 1;
}

PROBED long turn(int i)
{
	swapcontext(&back, &co[i]);
	return ended[i];
}

static void coroutines(void)
{
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < COROUTINES; i++) {
			getcontext(&co[i]);
			co[i].uc_stack.ss_sp = room[i];
			co[i].uc_stack.ss_size = sizeof room[i];
			co[i].uc_link = &back;
			makecontext(&co[i], (void (*)(void))body, 1, i);
			ended[i] = 0;
		}
		for (int left = COROUTINES; left > 0;)
			for (int i = 0; i < COROUTINES; i++)
				if (!ended[i])
					left -= turn(i);
	}
}

static void *late(void *fd)
{
	usleep(300000);
	write((long)fd, "x", 1);
	return NULL;
}

/* A system call that waits. */
static void waits(void)
{
	int fd[2];
	char c;
	pthread_t t;
	pipe(fd);
	pthread_create(&t, NULL, late, (void *)(long)fd[1]);
	sum = read(fd[0], &c, 1);
	pthread_join(t, NULL);
}

static void spin(void) { for (;;) sum = leaf(sum, 1); }

static void *spinner(void *arg) { spin(); return NULL; }

/* Several threads that do not end. */
static void spins(void)
{
	pthread_t t;
	for (int i = 1; i < THREADS; i++)
		pthread_create(&t, NULL, spinner, NULL);
	spin();
}

static void sleeps(void)
{
	for (;;) {
		usleep(1000);
		sum = leaf(1, 1);
	}
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(void); } parts[] = {
		{ "calls", calls }, { "threads", threads }, { "forks", forks }, { "twice", twice }, { "vforks", vforks },
		{ "longjmps", longjmps }, { "signals", signals }, { "drops", drops }, { "traps", traps }, { "faults", faults }, { "coroutines", coroutines }, { "waits", waits }, { "spin", spin }, { "spins", spins }, { "sleeps", sleeps },
	};
	for (int i = 1; i < argc; i++) {
		sum = 0;
		if (strcmp(argv[i], "fib") == 0)
			sum = fib(15);
		else if (strcmp(argv[i], "tail") == 0)
			for (int k = 0; k < 100; k++)
				sum += tail(k);
		else if (strcmp(argv[i], "secret") == 0)
			sum = secret();
		else if (strcmp(argv[i], "exec") == 0) {
			sum = leaf(1, 1);
			fflush(stdout);
			execl("/proc/self/exe", argv[0], "calls", (char *)0);
			return 4;
		}
		for (int k = 0; k < sizeof parts / sizeof *parts; k++)
			if (strcmp(argv[i], parts[k].name) == 0)
				parts[k].f();
		printf("%s %ld\n", argv[i], sum);
		fflush(stdout);
	}
	return 0;
}
