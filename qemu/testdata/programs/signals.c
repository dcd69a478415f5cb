/* Signals: faults, masks, floating point in handlers, children, timers. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int alarms, children;
static volatile double noise = 1;

static void fault(int n, siginfo_t *i, void *c)
{
	printf("signal %d, code %d", n, i->si_code);
	if (n == SIGSEGV)
		printf(", address %#lx", (unsigned long)i->si_addr);
	printf("\n");
	siglongjmp(back, 1);
}

static void on_alarm(int n)
{
	alarms++;
	noise = noise * 1.37 + alarms; /* in the registers that main's sum is in */
}

static void on_child(int n) { children++; }

static void handle(int n, void (*f)(int, siginfo_t *, void *), void (*g)(int), int flags)
{
	struct sigaction a = { .sa_flags = flags };

	if (f) {
		a.sa_sigaction = f;
		a.sa_flags |= SA_SIGINFO;
	} else {
		a.sa_handler = g;
	}
	sigaction(n, &a, NULL);
}

static int deep(int n)
{
	volatile char big[4096];

	big[0] = n;
	return deep(n + 1) + big[0];
}

static void faults(void)
{
	static char other[65536];
	stack_t st = { .ss_sp = other, .ss_size = sizeof(other) };
	volatile int zero = 0;

	sigaltstack(&st, NULL);
	handle(SIGSEGV, fault, NULL, SA_ONSTACK);
	handle(SIGFPE, fault, NULL, 0);
	handle(SIGILL, fault, NULL, 0);
	handle(SIGTRAP, fault, NULL, 0);
	if (!sigsetjmp(back, 1))
		*(volatile int *)0x10 = 1;
	if (!sigsetjmp(back, 1))
		zero = 1 / zero;
	if (!sigsetjmp(back, 1))
		asm volatile("ud2");
	if (!sigsetjmp(back, 1))
		asm volatile("int3");
	if (!sigsetjmp(back, 1))
		asm volatile("hlt");
	handle(SIGSEGV, NULL, SIG_DFL, 0);
	int pid = fork(), status;
	if (pid == 0)
		_exit(deep(0)); /* the stack's end */
	waitpid(pid, &status, 0);
	printf("endless recursion: signal %d\n", WTERMSIG(status));
}

static void timers(void)
{
	struct itimerval t = { { 0, 2000 }, { 0, 2000 } }, off = { 0 };
	double sum = 0;

	handle(SIGALRM, NULL, on_alarm, SA_RESTART);
	setitimer(ITIMER_REAL, &t, NULL);
	for (long i = 1; alarms < 20; i++) { /* never makes a system call */
		double x = 0;
		for (int k = 1; k <= 1000; k++)
			x += 1.0 / k;
		if (i == 1)
			sum = x;
		else if (x != sum) {
			printf("a sum was changed\n");
			break;
		}
	}
	setitimer(ITIMER_REAL, &off, NULL);
	printf("the sum is %.12f\n", sum);
}

/* asleep waits until a process waits in a call. */
static void asleep(int pid)
{
	char path[32], line[512], *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do {
		usleep(1000);
		FILE *f = fopen(path, "r");
		state = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		if (f)
			fclose(f);
	} while (state && state[2] != 'S');
}

/* taken is how many signals on_user has seen; children see it, too. */
static volatile int *taken;

static void on_user(int n) { ++*taken; }

/* interrupted reads while a signal comes, which ends the read unless it is restarted. */
static void interrupted(int flags)
{
	int p[2], n;
	char c = 0;

	pipe(p);
	*taken = 0;
	handle(SIGUSR1, NULL, on_user, flags);
	int pid = fork();
	if (pid == 0) {
		asleep(getppid());
		kill(getppid(), SIGUSR1);
		while (!*taken)
			usleep(1000);
		if (flags & SA_RESTART)
			asleep(getppid());
		write(p[1], "x", 1);
		_exit(0);
	}
	n = read(p[0], &c, 1);
	printf("read: %d %s\n", n, n < 0 && errno == EINTR ? "EINTR" : "");
	waitpid(pid, NULL, 0);
	close(p[0]), close(p[1]);
}

static void waiting(void)
{
	sigset_t set, old;
	int n = 0;

	handle(SIGCHLD, NULL, on_child, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 5; i++) {
		int status, pid = fork();
		if (pid == 0)
			_exit(i);
		while (!children)
			sigsuspend(&old);
		children = 0;
		waitpid(pid, &status, 0);
		n += WEXITSTATUS(status);
	}
	printf("the sum of the exit codes is %d\n", n);
	sigprocmask(SIG_SETMASK, &old, NULL);
	handle(SIGCHLD, NULL, SIG_DFL, 0);
	taken = mmap(NULL, sizeof(*taken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	interrupted(0);
	interrupted(SA_RESTART);
	int pid = fork(), status;
	if (pid == 0)
		for (;;)
			;
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	printf("stopped: %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
	kill(pid, SIGCONT);
	waitpid(pid, &status, WCONTINUED);
	printf("continued: %d\n", WIFCONTINUED(status));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	printf("killed by %d\n", WTERMSIG(status));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	faults();
	timers();
	waiting();
	return 0;
}
