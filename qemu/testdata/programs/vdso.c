/* vdso: the functions that tell the time without a system call agree with those that make one, on
 * all CPUs; and what a program does to the pages that they are in is its own problem. Prints a line
 * for each part, and what was wrong. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int (*gettime)(clockid_t, struct timespec *);
typedef int (*getcpus)(unsigned *, unsigned *, void *);

static const clockid_t clocks[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,
};
static gettime vgettime;
static getcpus vgetcpu;
static char *object;

static void check(int ok, const char *what, long a, long b)
{
	if (!ok)
		printf("WRONG: %s: %ld, %ld\n", what, a, b);
}

/* find looks a function up as a C library does, in the symbols of the dynamic section. */
static void *find(const char *name)
{
	Elf64_Ehdr *h = (void *)object;
	Elf64_Phdr *p = (void *)(object + h->e_phoff);
	Elf64_Dyn *d = NULL;
	Elf64_Sym *symbols = NULL;
	const char *strings = NULL;

	for (int i = 0; i < h->e_phnum; i++)
		if (p[i].p_type == PT_DYNAMIC)
			d = (void *)(object + p[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = (void *)(object + d->d_un.d_ptr);
		if (d->d_tag == DT_STRTAB)
			strings = object + d->d_un.d_ptr;
	}
	for (int i = 1; i < 17 && symbols && strings; i++) /* more than there are, and still in the object */
		if (!strcmp(strings + symbols[i].st_name, name))
			return object + symbols[i].st_value;
	return NULL;
}

static long ns(const struct timespec *t) { return t->tv_sec * 1000000000L + t->tv_nsec; }

static long read_clock(clockid_t clock, int by_call)
{
	struct timespec t = { -1, -1 };
	long r = by_call ? syscall(SYS_clock_gettime, clock, &t) : vgettime(clock, &t);

	check(r == 0 && t.tv_sec >= 0 && t.tv_nsec >= 0 && t.tv_nsec < 1000000000, "clock", clock, r);
	return ns(&t);
}

/* mixed reads a clock both ways in turn: it never runs back. */
static void mixed(clockid_t clock)
{
	long last = 0;

	for (int i = 0; i < 2000; i++) {
		long now = read_clock(clock, i & 1);

		check(now >= last, "clock runs back", clock, last - now);
		last = now;
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long latest;

/* ordered reads both ways, of which no two threads do one at the same time */
static void ordered(int by_call)
{
	pthread_mutex_lock(&lock);
	long now = read_clock(CLOCK_MONOTONIC, by_call);

	check(now >= latest, "time of another CPU", now, latest);
	latest = now;
	pthread_mutex_unlock(&lock);
}

static void *reader(void *unused)
{
	for (int i = 0; i < 2000; i++)
		ordered(i & 1);
	return NULL;
}

/* wander reads on one CPU after the other, while others read on any. */
static void wander(void)
{
	int n = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t all;
	pthread_t t[3];

	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, reader, NULL);
	for (int i = 0; i < 2 * n; i++) {
		cpu_set_t one;
		unsigned cpu = 99, node = 99;

		CPU_ZERO(&one);
		CPU_SET(i % n, &one);
		check(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity", i % n, errno);
		check(vgetcpu(&cpu, &node, NULL) == 0 && cpu == i % n && node == 0, "CPU", cpu, i % n);
		check(sched_getcpu() == i % n, "sched_getcpu", sched_getcpu(), i % n);
		ordered(0);
	}
	sched_setaffinity(0, sizeof(all), &all);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void others(void)
{
	struct timespec t, before, after;
	struct timeval tv;
	struct timezone zone = { 7, 7 };

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &before);
	gettimeofday(&tv, &zone);
	time_t now = time(NULL);
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &after);
	long us = tv.tv_sec * 1000000L + tv.tv_usec;
	check(us >= ns(&before) / 1000 && us <= ns(&after) / 1000, "gettimeofday", us, ns(&before));
	check(now >= before.tv_sec - 1 && now <= after.tv_sec, "time", now, after.tv_sec);
	check(clock_getres(CLOCK_MONOTONIC, &t) == 0 && ns(&t) == 1, "clock_getres", ns(&t), 1);
	check(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 && ns(&t) > 0, "CPU time", ns(&t), errno);
	check(clock_gettime(77, &t) == -1 && errno == EINVAL, "no such clock", errno, EINVAL);
}

struct area { char *start, *end; };

/* areas returns those of the vDSO and its data, which are next to each other. */
static int areas(struct area *a)
{
	char line[300];
	int n = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), f))
		if ((strstr(line, "[vdso]") || strstr(line, "[vvar")) && n < 4) {
			unsigned long start, end;

			sscanf(line, "%lx-%lx", &start, &end);
			a[n++] = (struct area){ (char *)start, (char *)end };
		}
	fclose(f);
	return n;
}

/* in_child runs f in a child, which knows nothing else to do, and prints how it ended. */
static void in_child(const char *name, void (*f)(struct area *, int))
{
	struct area a[4];
	int status, n = areas(a);
	pid_t pid;

	fflush(stdout);
	if (!(pid = fork())) {
		f(a, n);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s: signal %d\n", name, WTERMSIG(status));
	else
		printf("%s: status %d\n", name, WEXITSTATUS(status));
	mixed(CLOCK_MONOTONIC);
}

static void nothing(struct area *a, int n) { mixed(CLOCK_BOOTTIME); }

static void moved(struct area *a, int n)
{
	size_t size = a[n - 1].end - a[0].start;
	char *to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < n; i++) {
		size_t part = a[i].end - a[i].start;
		char *at = to + (a[i].start - a[0].start);

		check(mremap(a[i].start, part, part, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at, "mremap", i, errno);
	}
	vgettime = (gettime)(to + ((char *)vgettime - a[0].start));
	mixed(CLOCK_MONOTONIC);
}

static void unmapped(struct area *a, int n)
{
	munmap(a[0].start, a[n - 1].end - a[0].start);
	read_clock(CLOCK_MONOTONIC, 0);
}

static void without_data(struct area *a, int n)
{
	munmap(a[0].start, a[n - 1].start - a[0].start);
	read_clock(CLOCK_MONOTONIC, 0);
}

static void stored_to_data(struct area *a, int n) { *(volatile char *)a[0].start = 1; }
static void stored_to_code(struct area *a, int n) { *(volatile char *)a[n - 1].start = 1; }

static void spoilt(struct area *a, int n)
{
	char *page = a[n - 1].start;
	size_t size = a[n - 1].end - page;

	check(mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0, "mprotect", errno, 0);
	memset(page, 0xcc, size);
	read_clock(CLOCK_MONOTONIC, 0);
}

static void bad_pointer(struct area *a, int n) { vgettime(CLOCK_MONOTONIC, (void *)8); }

int main(int argc, char **argv)
{
	object = (char *)getauxval(AT_SYSINFO_EHDR);
	if (!object || memcmp(object, ELFMAG, SELFMAG)) {
		puts("no vDSO");
		return 1;
	}
	vgettime = find("__vdso_clock_gettime");
	vgetcpu = find("__vdso_getcpu");
	if (!vgettime || !vgetcpu) {
		puts("no functions");
		return 1;
	}
	for (unsigned i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		mixed(clocks[i]);
	puts("clocks");
	others();
	puts("others");
	wander();
	puts("CPUs");
	in_child("forked", nothing);
	in_child("moved", moved);
	in_child("unmapped", unmapped);
	in_child("without data", without_data);
	in_child("stored to data", stored_to_data);
	in_child("stored to code", stored_to_code);
	in_child("spoilt", spoilt);
	in_child("bad pointer", bad_pointer);
	if (argc == 1) {
		fflush(stdout);
		execl("/proc/self/exe", argv[0], "again", NULL);
	}
	return 0;
}
