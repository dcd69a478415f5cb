/* Debug traps of every kind that a program can cause, at random from a seed: it steps itself across
 * system calls, signals and forks, executes INT3, INT1 and INT n, loads odd flags, and touches debug
 * registers. Its arguments are a seed and a number of rounds. It prints the same on Linux, with
 * whatever is watched meanwhile. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { CF = 1, TF = 0x100, IF = 0x200, DF = 0x400, IOPL = 3 << 12, NT = 1 << 14, RF = 1 << 16, VM = 1 << 17, AC = 1 << 18, ID = 1 << 21 };

static uint64_t seed;
static uint64_t rnd(void) { return seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; }

/* What the handlers saw. */
static __thread volatile int traps, others, wrong;
static volatile int stopping;
static volatile uint64_t *const watched = (void *)0x70000000; /* four words, which a test watches */

static void complain(const char *what, long a, long b)
{
	if (wrong++ < 5)
		printf("WRONG %s: %#lx %#lx\n", what, a, b);
}

/* endOfREP is whether a step ended at REP MOVSB with a count of 0, and RF set. No processor has one:
 * the last round ends behind the instruction. QEMU 10.0 has one more before it looks at the count. */
static int endOfREP(greg_t *r)
{
	return *(uint16_t *)r[REG_RIP] == 0xa4f3 && r[REG_RCX] == 0 && r[REG_EFL] & RF;
}

static void onTrap(int sig, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t flags;

	asm volatile("pushfq; pop %0" : "=r"(flags));
	if (flags & (DF | TF))
		complain("flags of a handler", flags, 0);
	if (sig == SIGTRAP && r[REG_TRAPNO] == 1 && info->si_code == TRAP_TRACE) {
		if (!(r[REG_EFL] & TF) && ((uint8_t *)r[REG_RIP])[-1] != 0x9d) /* POPFQ may have cleared it */
			complain("a step without TF", r[REG_RIP], r[REG_EFL]);
		if (!endOfREP(r))
			traps++;
		return;
	}
	others++;
	if (sig == SIGTRAP && r[REG_TRAPNO] == 3)
		return; /* INT3: it continues behind */
	/* Whatever it is, it is at an instruction of two to four bytes, with NOPs behind it; a hypervisor or an
	   emulator may have INT1, of one byte, at its beginning or behind it. */
	r[REG_RIP] += 4;
}

static volatile int hits;
static void onUser(int sig) { __atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED); }

#define NOPS "nop; nop; nop; nop; nop;"
#define STEP "pushfq; orl $0x100, (%%rsp); popfq;"
#define STOP "pushfq; andl $~0x100, (%%rsp); popfq;"
#define CLOBBERS "rax", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc"

/* expect compares how many traps there were. Nothing is printed while TF is set. */
static void expect(const char *what, int steps, int events)
{
	if (traps != steps || others != events)
		complain(what, traps << 16 | others, steps << 16 | events);
	traps = others = 0;
}

/* The instruction behind POPF is executed before the first trap, and STOP's three trap, too: the
 * last trap is behind its POPFQ. */
enum { STOPS = 3 };

static void plain(void)
{
	asm volatile(STEP NOPS STOP ::: CLOBBERS);
	expect("nops", 5 + STOPS, 0);
}

static void calls(void)
{
	long n;
	/* SYSCALL and the instruction behind it are one step: the kernel returns with TF. */
	asm volatile(STEP "movl $39, %%eax; syscall; nop; nop;" STOP : "=a"(n) :: "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc");
	if (n != getpid())
		complain("getpid", n, getpid());
	expect("getpid", 3 + STOPS, 0);
	asm volatile(STEP "movl $1, %%eax; movl $-1, %%edi; syscall; nop; nop;" STOP ::: CLOBBERS);
	expect("a failing write", 4 + STOPS, 0);
	asm volatile(STEP "movl $24, %%eax; syscall; nop;" STOP ::: CLOBBERS);
	expect("sched_yield", 2 + STOPS, 0);
}

static void strings(void)
{
	static char a[64], b[64];
	int n = rnd() % 40;
	long c = n;
	memset(a, n + 1, sizeof a);
	void *s = a, *d = b;
	asm volatile(STEP "rep movsb;" STOP : "+c"(c), "+S"(s), "+D"(d) :: "memory", "cc");
	if (memcmp(a, b, n) || c)
		complain("rep movsb", n, c);
	/* Each round of REP is a step; with none, the instruction is. */
	expect("rep movsb", (n ? n : 1) + STOPS, 0);
}

static void touches(void)
{
	int k = rnd() % 4;
	uint64_t before = watched[k];
	asm volatile(STEP "incq %0; nop; addq $2, %0;" STOP : "+m"(watched[k]) :: "memory", "cc");
	if (watched[k] != before + 3)
		complain("a watched word", watched[k], before + 3);
	expect("a watched word", 3 + STOPS, 0);
	watched[k] += 5;
	asm volatile("lock xaddq %1, %0" : "+m"(watched[k]), "+r"(before));
}

static void breakpoints(void)
{
	asm volatile("int3; nop" ::: "memory");
	expect("int3", 0, 1);
	asm volatile(".byte 0xcd, 3" ::: "memory");
	expect("int 3", 0, 1);
	asm volatile(STEP "nop; int3; nop; nop;" STOP ::: CLOBBERS);
	if (traps < 3 + STOPS || traps > 4 + STOPS) /* whether INT3 itself is a step differs */
		complain("int3 in steps", traps, others);
	traps = 3 + STOPS;
	expect("int3 in steps", 3 + STOPS, 1);
}

/* refused executes what a program may not: the handler continues behind. */
#define REFUSED(code) do { asm volatile(code NOPS NOPS ::: CLOBBERS); expect(code, 0, 1); } while (0)

static void forbidden(void)
{
	switch (rnd() % 12) {
	case 0: REFUSED("mov %%rax, %%dr0;"); break;
	case 1: REFUSED("mov %%rax, %%dr7;"); break;
	case 2: REFUSED("mov %%dr6, %%rax;"); break;
	case 3: REFUSED("mov %%dr3, %%rcx;"); break;
	case 4: REFUSED("mov %%cr0, %%rax;"); break;
	case 5: REFUSED("mov %%rax, %%cr4;"); break;
	case 6: REFUSED(".byte 0xcd, 1;"); break; /* int 1 */
	case 7: REFUSED(".byte 0xcd, 2;"); break;
	case 8: REFUSED(".byte 0xcd, 0xf0;"); break;
	case 9: REFUSED("hlt; nop; nop;"); break;
	case 10: REFUSED("wrmsr; nop;"); break;
	case 11: REFUSED("ud2;"); break;
	}
}

/* odd loads flags that a program may change, and those that it may not. */
static void odd(void)
{
	uint64_t want = rnd() & ~(uint64_t)(TF | AC), got;
	uint64_t keep = CF | DF | NT | ID | 0x8d4;
	asm volatile("pushq %1; popfq; pushfq; popq %0; cld" : "=&r"(got) : "r"(want) : "memory", "cc");
	if ((got ^ want) & keep || got & (IOPL | VM | RF) || !(got & IF))
		complain("flags", got, want);
	/* With all of them, a system call and back; AC stays as it is, too. */
	want = (want | (rnd() & AC)) & ~(uint64_t)NT;
	asm volatile("pushq %1; popfq; movl $39, %%eax; syscall; pushfq; popq %0; pushq $0x202; popfq"
		: "=&r"(got) : "r"(want) : "rax", "rcx", "r11", "memory", "cc");
	if ((got ^ want) & (keep | AC) & ~(uint64_t)NT)
		complain("flags after a call", got, want);
	expect("flags", 0, 0);
}

/* signals: one is sent to the thread itself while it steps. */
static void signals(void)
{
	long tid = syscall(SYS_gettid), pid = getpid();
	int before = hits;
	asm volatile(STEP "syscall; nop; nop;" STOP
		: : "a"(SYS_tgkill), "D"(pid), "S"(tid), "d"(SIGUSR2) : "rcx", "r11", "memory", "cc");
	if (hits == before)
		complain("no signal", hits, before);
	if (traps != 2 + STOPS && traps != 3 + STOPS) /* whether sigreturn is followed by a trap at once differs */
		complain("signals", traps, 0);
	traps = 0;
}

/* forks: the child of one that steps steps on. */
static void forks(void)
{
	long pid;
	int status;
	asm volatile(STEP "movl $57, %%eax; syscall; nop; nop;" STOP : "=a"(pid) :: "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc");
	if (pid == 0) {
		expect("a child", 3 + STOPS, 0);
		_exit(wrong != 0);
	}
	expect("fork", 3 + STOPS, 0);
	if (waitpid(pid, &status, 0) != pid || status)
		complain("child", status, pid);
}

/* int1: a hypervisor may repeat it for ever, so the handler steps over. */
static void int1(void)
{
	asm volatile(".byte 0xf1;" NOPS NOPS ::: CLOBBERS);
	expect("int1", 0, 1);
}

/* disturb interrupts the other thread again and again, and reads what is watched. */
static void *disturb(void *main)
{
	for (volatile uint64_t sum = 0; !stopping; sum += watched[sum % 2]) {
		pthread_kill((pthread_t)main, SIGUSR1);
		for (volatile int i = 0; i < 5000; i++)
			;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static void (*const all[])(void) = { plain, calls, strings, touches, breakpoints, forbidden, odd, signals, int1 };
	int rounds = argc > 2 ? atoi(argv[2]) : 300;
	struct sigaction a = { .sa_sigaction = onTrap, .sa_flags = SA_SIGINFO | SA_NODEFER };

	mmap((void *)watched, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	for (int sig = 1; sig < 32; sig++)
		if (sig == SIGTRAP || sig == SIGSEGV || sig == SIGILL || sig == SIGBUS)
			sigaction(sig, &a, NULL);
	signal(SIGUSR1, onUser);
	signal(SIGUSR2, onUser);
	pthread_t other;
	pthread_create(&other, NULL, disturb, (void *)pthread_self());
	for (int i = 0; i < rounds; i++) {
		all[rnd() % (sizeof all / sizeof *all)]();
		if (i % 50 == 0)
			forks();
	}
	stopping = 1;
	pthread_join(other, NULL);
	printf("%d rounds, %d wrong\n", rounds, wrong);
	return wrong != 0;
}
