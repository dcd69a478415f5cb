// What a program has in AVX's registers stays, whatever the kernel does meanwhile, and a signal's
// frame has it where Linux puts it. Frames that a handler has damaged end as Linux lets them end.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define ALL(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13) op(14) op(15)
#define LOAD(i) "vmovdqu 32*" #i "(%0), %%ymm" #i "\n"
#define STORE(i) "vmovdqu %%ymm" #i ", 32*" #i "(%0)\n"

typedef struct { uint64_t lane[64]; } registers;

static inline __attribute__((always_inline)) void load(const registers *r) { asm volatile(ALL(LOAD) :: "r"(r) : "memory"); }
static inline __attribute__((always_inline)) void store(registers *r) { asm volatile(ALL(STORE) :: "r"(r) : "memory"); }

static void fill(registers *r, uint64_t seed) {
	for (int i = 0; i < 64; i++)
		r->lane[i] = seed = seed * 6364136223846793005u + 1442695040888963407u;
}

// call makes a system call, and leaves AVX's registers to the kernel alone.
static inline __attribute__((always_inline)) long call(long n, long a, long b, long c) {
	long r;
	asm volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}

// probed and relative are where user probes are put: at an instruction of AVX, and at one whose
// operand is relative to IP.
static const registers near = {{1, 2, 3, 4}};
__attribute__((noinline, naked)) void relative(void) { asm("vmovdqu near(%rip), %ymm2\n ret"); }
__attribute__((noinline, naked)) void probed(void) { asm("vorps %ymm1, %ymm0, %ymm0\n jmp relative"); }

static registers dirt;
static volatile int nested, begun, initial = 1;

static void clobber(int sig, siginfo_t *info, void *context) {
	registers now;
	store(&now);
	for (int i = 0; i < 64; i++)
		initial &= now.lane[i] == 0;
	load(&dirt);
	begun++;
	if (sig == SIGUSR1 && !nested) {
		nested = 1;
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR2);
		nested = 0;
	}
	asm volatile("vzeroall");
	(void)info, (void)context;
}

static volatile int stop;

static void *others(void *arg) {
	registers want, got;
	long lost = 0;
	for (uint64_t n = 1; !stop; n++) {
		fill(&want, n * (uintptr_t)arg);
		load(&want);
		for (int i = 0; i < 2000; i++)
			asm volatile("" ::: "memory");
		if (n % 3 == 0)
			call(SYS_sched_yield, 0, 0, 0);
		store(&got);
		lost += memcmp(&want, &got, sizeof got) != 0;
		if (n % 5 == 0)
			asm volatile("vzeroupper");
	}
	return (void *)lost;
}

enum { NOTHING, GETPID, YIELD, SLEEP, SPIN, SIGNAL, FAULT, FORK, KINDS };
static const char *names[] = {"nothing", "getpid", "yield", "sleep", "spin", "signal", "page fault", "fork"};

// act has one of the things happen that a kernel does, with AVX's registers in use. It reports
// whether it is a child that has to end.
static inline __attribute__((always_inline)) int act(int kind, volatile char *pages) {
	struct timespec t = {0, 2000000};
	switch (kind) {
	case GETPID: for (int i = 0; i < 200; i++) call(SYS_getpid, 0, 0, 0); break;
	case YIELD: for (int i = 0; i < 200; i++) call(SYS_sched_yield, 0, 0, 0); break;
	case SLEEP: call(SYS_nanosleep, (long)&t, 0, 0); break;
	case SPIN: for (int i = 0; i < 20000000; i++) asm volatile("" ::: "memory"); break;
	case SIGNAL: call(SYS_tgkill, call(SYS_getpid, 0, 0, 0), call(SYS_gettid, 0, 0, 0), SIGUSR1); break;
	case FAULT: for (int i = 0; i < 64; i++) pages[i << 12] = 1; break;
	case FORK: return call(SYS_fork, 0, 0, 0) == 0;
	}
	return 0;
}

static int keeps(int kind, uint64_t seed) {
	registers want, got;
	volatile char *pages = mmap(0, 64 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fill(&want, seed);
	load(&want);
	int child = act(kind, pages);
	store(&got);
	int ok = memcmp(&want, &got, sizeof got) == 0;
	if (child)
		_exit(!ok);
	int status = 0;
	if (kind == FORK && (wait(&status) < 0 || status != 0))
		ok = 0;
	munmap((void *)pages, 64 << 12);
	return ok;
}

// The parts of a frame: what Linux's headers call _fpx_sw_bytes, and the header of XSAVE.
struct software { uint32_t magic1, extended; uint64_t features; uint32_t size; };
#define SOFTWARE(fp) ((struct software *)((fp) + 464))
#define PRESENT(fp) ((uint64_t *)((fp) + 512))

enum { WHOLE, MAGIC1, MAGIC2, SMALL, LARGE, BEYOND, COMPACT, MXCSR, MOVED, NULLED, UNMAPPED, FEATURES, ABSENT, CHANGED, DAMAGES };
static const char *damages[] = {"whole", "first magic word", "second magic word", "size too small", "size too large",
	"unknown component", "compact form", "MXCSR", "moved", "null", "unmapped", "fewer components", "AVX absent", "lane changed"};
static volatile int damage;

static void damager(int sig, siginfo_t *info, void *context) {
	ucontext_t *u = context;
	char *fp = (char *)u->uc_mcontext.fpregs;
	struct software *sw = SOFTWARE(fp);
	uint32_t magic2;
	memcpy(&magic2, fp + sw->size, 4);
	if (damage == WHOLE)
		printf("frame: %x %x, %d, components %d, header %d, flags %lx, aligned %d\n", sw->magic1, magic2, (int)(sw->extended - sw->size),
			(int)(sw->features & 7), (int)(PRESENT(fp)[0] & 7), u->uc_flags & 7, (int)((uintptr_t)fp % 64));
	switch (damage) {
	case MAGIC1: sw->magic1 = 0; break;
	case MAGIC2: memset(fp + sw->size, 0, 4); break;
	case SMALL: sw->size = 575; break;
	case LARGE: sw->size += 64; sw->extended += 64; break;
	case BEYOND: PRESENT(fp)[0] |= 1ul << 62; break;
	case COMPACT: PRESENT(fp)[1] = 1; break;
	case MXCSR: fp[26] |= 8; break;
	case MOVED: u->uc_mcontext.fpregs = (void *)(fp + 16); break;
	case NULLED: u->uc_mcontext.fpregs = 0; break;
	case UNMAPPED: u->uc_mcontext.fpregs = (void *)0x10000; break;
	case FEATURES: sw->features = 3; break;
	case ABSENT: PRESENT(fp)[0] &= ~4ul; break;
	case CHANGED: memset(fp + 576 + 16 * 5, 0x77, 16); break;
	}
	(void)sig, (void)info;
}

// sigreturns says how a program goes on whose frame has that damage.
static void sigreturns(int which) {
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		registers want, got;
		fill(&want, 77);
		damage = which;
		load(&want);
		act(SIGNAL, 0);
		store(&got);
		int low = 1, high = 1, zero = 1, five = 1;
		for (int i = 0; i < 64; i++) {
			if (i / 4 == 5 && i % 4 >= 2)
				five &= got.lane[i] == 0x7777777777777777;
			else if (i % 4 < 2)
				low &= got.lane[i] == want.lane[i];
			else
				high &= got.lane[i] == want.lane[i], zero &= got.lane[i] == 0;
		}
		printf("%s: low %d, high %d, high zero %d, YMM5 %d\n", damages[which], low, high, zero, five);
		fflush(stdout);
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
	if (status != 0)
		printf("%s: signal %d\n", damages[which], WTERMSIG(status));
}

int main(int argc, char **argv) {
	if (argc > 1) { // probes are on probed
		registers want = {{1, 1, 1, 1, 6, 6, 6, 6}}, got;
		for (int i = 0; i < 100; i++) {
			load(&want);
			asm volatile("call probed" ::: "memory");
			store(&got);
			if (got.lane[0] != 7 || got.lane[3] != 7 || memcmp(got.lane + 8, near.lane, 32) || memcmp(got.lane + 12, want.lane + 12, 52 * 8))
				return printf("round %d: LOST\n", i) > 0;
		}
		puts("probed: kept");
		return 0;
	}
	struct sigaction act = {.sa_sigaction = clobber, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR1, &act, 0);
	sigaction(SIGUSR2, &act, 0);
	memset(&dirt, 0xdd, sizeof dirt);
	pthread_t t[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], 0, others, (void *)(i + 12345));
	for (int kind = 0; kind < KINDS; kind++) {
		int kept = 0;
		for (int i = 0; i < 10; i++)
			kept += keeps(kind, kind * 1000 + i + 1);
		printf("%s: kept %d of 10\n", names[kind], kept);
	}
	stop = 1;
	for (int i = 0; i < 3; i++) {
		void *lost;
		pthread_join(t[i], &lost);
		printf("another thread: %s\n", lost ? "LOST" : "kept");
	}
	printf("handlers: %d, begun with the initial state: %d\n", begun, initial);
	act.sa_sigaction = damager;
	sigaction(SIGUSR1, &act, 0);
	for (int i = 0; i < DAMAGES; i++)
		sigreturns(i);
	return 0;
}
