// What a program has in the x87's registers stays, whatever the kernel does meanwhile: with
// all eight in use and the first freed, and with MMX registers after EMMS, which look unused.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned char before[512] __attribute__((aligned(16))), after[512] __attribute__((aligned(16)));

static void handler(int sig) {
	// A handler begins with the state as it is, and may spoil it.
	asm volatile("fninit; fldpi; fldl2e; emms" ::: "memory");
	(void)sig;
}

static void *others(void *arg) {
	for (int i = 0; i < 300; i++) {
		long double x = i;
		asm volatile("fldpi; fldl2t; fmulp; fstpt %0" : "=m"(x));
		sched_yield();
	}
	return arg;
}

static void nothing(void) {}
static void getpids(void) { for (int i = 0; i < 1000; i++) syscall(SYS_getpid); }
static void yields(void) { for (int i = 0; i < 1000; i++) syscall(SYS_sched_yield); }
static void sleeps(void) { struct timespec t = {0, 3000000}; nanosleep(&t, 0); }
static void signals(void) { syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1); }
static void faults(void) { static volatile char page[64 << 12]; for (int i = 0; i < 64; i++) page[i << 12]++; }
static void forks(void) {
	if (fork() == 0)
		return; // the child goes on, and is compared, too
	wait(0);
}

// same compares what FXSAVE stores of the x87, but for the place of the last instruction.
static int same(void) {
	return memcmp(before, after, 8) == 0 && memcmp(before + 32, after + 32, 128) == 0;
}

static const struct { const char *name; void (*f)(void); } all[] = {
	{"nothing", nothing}, {"getpid", getpids}, {"yield", yields}, {"sleep", sleeps},
	{"signal", signals}, {"page fault", faults}, {"fork", forks},
};

#define SAVE(to) asm volatile("fxsave %0" : "=m"(to))

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	signal(SIGUSR1, handler);
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, others, 0);
	for (int kind = 0; kind < 3; kind++)
		for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
			pid_t self = getpid();
			static const uint64_t bits = 0x0123456789abcdef;
			asm volatile("fninit");
			if (kind == 0)
				asm volatile("fld1; fldpi; fldl2e; fldl2t; fldln2; fldlg2; fldz; fld1; ffree %%st(0)" :::);
			else if (kind == 1)
				asm volatile("movq %0, %%mm0; movq %0, %%mm5; emms" :: "m"(bits));
			else
				asm volatile("fldpi; fldl2e");
			SAVE(before);
			all[i].f();
			SAVE(after);
			asm volatile("fninit");
			int ok = same();
			if (getpid() != self)
				_exit(printf("kind %d, %s, child: %s\n", kind, all[i].name, ok ? "kept" : "LOST") < 0);
			printf("kind %d, %s: %s\n", kind, all[i].name, ok ? "kept" : "LOST");
		}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
