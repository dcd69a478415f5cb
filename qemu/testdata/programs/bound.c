// Threads and processes run on the CPUs that they are bound to, and on no other; and only
// time on a CPU is counted.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int cpus;

static void bind(pid_t who, int cpu) {
	cpu_set_t s;
	CPU_ZERO(&s);
	CPU_SET(cpu, &s);
	if (sched_setaffinity(who, sizeof s, &s) != 0)
		perror("sched_setaffinity");
}

// strays counts how often the caller is elsewhere than on that CPU, while it computes,
// yields and sleeps, so that the CPU is given to others.
static long strays(int cpu, int rounds) {
	long n = 0;
	for (int i = 0; i < rounds; i++) {
		for (volatile int k = 0; k < 20000; k++)
			;
		n += sched_getcpu() != cpu;
		if (i % 4 == 0)
			sched_yield();
		n += sched_getcpu() != cpu;
		if (i % 20 == 0)
			usleep(300);
		n += sched_getcpu() != cpu;
	}
	return n;
}

static void *bound(void *arg) {
	int cpu = (long)arg % cpus;
	bind(0, cpu);
	return (void *)strays(cpu, 100);
}

static volatile int stop;
static volatile pid_t wanderer;

static void *wanders(void *arg) {
	wanderer = gettid();
	while (!stop)
		;
	return (void *)(long)sched_getcpu();
}

static double seconds(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *calls(void *arg) {
	for (int i = 0; i < 3000; i++)
		getppid();
	for (int i = 0; i < 300; i++)
		sched_yield();
	return arg;
}

// charged lets many threads make calls, and compares what they were charged with what
// there was: no more than the time of all CPUs.
static void charged(void) {
	pthread_t t[24];
	struct rusage u;
	double wall = -seconds(CLOCK_MONOTONIC);
	for (int i = 0; i < 24; i++)
		pthread_create(&t[i], 0, calls, 0);
	for (int i = 0; i < 24; i++)
		pthread_join(t[i], 0);
	wall += seconds(CLOCK_MONOTONIC);
	double most = wall * cpus * 1.5 + 0.1, used = seconds(CLOCK_PROCESS_CPUTIME_ID);
	getrusage(RUSAGE_SELF, &u);
	double told = u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	if (used > most || told > most + 1)
		printf("%.3f s charged, getrusage %.3f, in %.3f s on %d CPUs\n", used, told, wall, cpus);
	else
		printf("charged for what there was\n");
}

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	charged();
	cpu_set_t s;
	CPU_ZERO(&s);
	int r = sched_setaffinity(0, sizeof s, &s);
	printf("empty: %d, errno %d\n", r, errno);
	CPU_SET(1000, &s);
	r = sched_setaffinity(0, sizeof s, &s);
	printf("none of these: %d, errno %d\n", r, errno);
	pthread_t t[6];
	long n = 0;
	for (long i = 0; i < 6; i++)
		pthread_create(&t[i], 0, bound, (void *)i);
	for (int i = 0; i < 6; i++) {
		void *r;
		pthread_join(t[i], &r);
		n += (long)r;
	}
	printf("threads astray: %ld\n", n);
	bind(0, cpus - 1);
	int pid = fork();
	if (pid == 0)
		_exit(strays(cpus - 1, 60) != 0);
	int status;
	waitpid(pid, &status, 0);
	sched_getaffinity(0, sizeof s, &s);
	printf("a child astray: %d; it is bound to %d, to this %d\n", WEXITSTATUS(status), CPU_COUNT(&s), CPU_ISSET(cpus - 1, &s) != 0);
	// One that another binds while it computes and makes no call.
	void *where;
	pthread_create(&t[0], 0, wanders, 0);
	while (wanderer == 0)
		usleep(1000);
	bind(wanderer, 0);
	usleep(20000);
	stop = 1;
	pthread_join(t[0], &where);
	printf("bound by another: %ld\n", (long)where);
	return 0;
}
