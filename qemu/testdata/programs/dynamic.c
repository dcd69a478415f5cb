// A dynamic program: libraries at its start and later, threads with variables of
// their own, jumps over functions, an exit handler, memory mapped from a file.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread int mine = 5;
static jmp_buf env;
static sigjmp_buf sigenv;

static void deep(int n)
{
	if (n == 0)
		longjmp(env, 7);
	deep(n - 1);
}

static void *thread(void *arg)
{
	mine += (int)(long)arg;
	return (void *)(long)mine;
}

static void on_exit_too(void) { puts("at exit"); }

static void on_segv(int sig) { siglongjmp(sigenv, sig); }

static void library(void)
{
	void *m = dlopen("libm.so.6", RTLD_NOW);
	if (!m) {
		puts(dlerror());
		exit(1);
	}
	double (*cosine)(double) = (double (*)(double))dlsym(m, "cos");
	printf("cos(1) = %.6f\n", cosine(1.0));
	printf("no symbol: %d, no library: %d\n", !dlsym(m, "no_such"), !dlopen("libnothere.so", RTLD_NOW));
	printf("closed: %d\n", dlclose(m));
}

static void threads(void)
{
	pthread_t t[8];
	long sum = 0;
	for (long i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, (void *)i);
	for (int i = 0; i < 8; i++) {
		void *r;
		pthread_join(t[i], &r);
		sum += (long)r;
	}
	printf("threads: %ld, here: %d\n", sum, mine);
}

static void mapping(const char *self)
{
	int fd = open(self, O_RDONLY);
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	printf("mapped: %d\n", memcmp(p, "\177ELF", 4));
	p[0] = 'x';
	char c;
	printf("private: %c, the file's: %d\n", p[0], pread(fd, &c, 1, 0) == 1 && c == '\177');
	mprotect(p, 4096, PROT_READ);
	signal(SIGSEGV, on_segv);
	if (sigsetjmp(sigenv, 1) == 0)
		p[0] = 'y';
	else
		puts("SIGSEGV");
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fflush(stdout);
	if (fork() == 0) {
		*shared = 42;
		_exit(0);
	}
	wait(NULL);
	printf("shared with the child: %d\n", *shared);
}

int main(int argc, char **argv)
{
	atexit(on_exit_too);
	library();
	int v = setjmp(env);
	if (v == 0)
		deep(50);
	printf("longjmp %d\n", v);
	threads();
	mapping(argv[1]);
	return 3;
}
