// Programs that take memory until they are stopped: see TestMemoryBombs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define MIB (1L << 20)

static int deeper(int n)
{
	char b[1024];

	memset(b, n, sizeof b);
	return n ? deeper(n + 1) + b[3] : 0;
}

/* Private pages until there are no more. */
static void pages(void)
{
	for (;;) {
		char *p = mmap(0, MIB, PROT_READ | PROT_WRITE, ANON, -1, 0);

		if (p == MAP_FAILED)
			_exit(3);
		memset(p, 1, MIB);
	}
}

/* As many areas as there may be: no two beside each other are alike. */
static long areas(void)
{
	long n = 0;

	while (mmap(0, 4096, n & 1 ? PROT_READ : PROT_READ | PROT_WRITE, ANON, -1, 0) != MAP_FAILED)
		n++;
	return n;
}

/* Pages far from each other, one at a time: each needs page tables of its own. */
static long tables(void)
{
	long n = 0;

	for (unsigned long a = 1UL << 41; a < 1UL << 46; a += 1UL << 30, n++) {
		char *p = mmap((void *)a, 4096, PROT_READ | PROT_WRITE, ANON | MAP_FIXED, -1, 0);

		if (p == MAP_FAILED)
			break;
		*p = 1;
		munmap(p, 4096);
	}
	return n;
}

static long limited(void)
{
	struct rlimit l = {64 * MIB, 64 * MIB};
	long n = 0;

	setrlimit(RLIMIT_AS, &l);
	while (malloc(MIB))
		n++;
	return n;
}

static void ended(const char *what, void (*f)(void))
{
	int status;

	if (fork() == 0) {
		f();
		_exit(0);
	}
	wait(&status);
	printf("%s: status %d\n", what, status);
	fflush(stdout);
}

static void stack(void) { deeper(1); }
static void count(void) { printf("areas %ld\n", areas()), fflush(stdout); }
static void sparse(void) { printf("sparse %ld\n", tables()), fflush(stdout); }
static void limit(void) { printf("limited %ld\n", limited()), fflush(stdout); }

int main(int argc, char **argv)
{
	ended("limit", limit);
	ended("stack", stack);
	ended("pages", pages);
	if (argc > 1) /* all of the file that is used is there now */
		return 0;
	ended("areas", count);
	ended("sparse", sparse);
	ended("pages again", pages);
	return 0;
}
