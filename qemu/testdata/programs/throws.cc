// Exceptions that pass through functions with return probes. Each argument runs one part.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noipa, noclone))

enum { ROUNDS = 300, THREADS = 4 };
static volatile long sum;

extern "C" {
PROBED long thrower(long n)
{
	if (n % 3 == 0)
		throw n;
	return n * 2;
}

// through has something to clean up, and something behind the call.
struct Cleanup {
	~Cleanup() { __atomic_add_fetch(&sum, 1, __ATOMIC_SEQ_CST); }
};
PROBED long through(long n)
{
	Cleanup c;
	return thrower(n) + 1;
}

// catches returns by either of two ways.
PROBED long catches(long n)
{
	try {
		return through(n);
	} catch (long v) {
		return -v;
	}
}

// deep throws at its end, through all of its calls.
PROBED long deep(long n)
{
	Cleanup c;
	return n == 0 ? thrower(3) : deep(n - 1) + 1;
}

PROBED long tail(long n) { return through(n); }

// choose has a jump table, and tail calls among its cases.
PROBED long choose(long n)
{
	switch (n % 8) {
	case 0: return n;
	case 1: return thrower(3 * n + 1);
	case 2: return n * n;
	case 3: sum += n; return 5;
	case 4: return -n;
	case 5: return through(3 * n + 1);
	case 6: return n ^ 21;
	default: sum -= n; return 7;
	}
}

PROBED int frames(void)
{
	void *at[64];
	return backtrace(at, 64);
}
PROBED int walked(long n)
{
	int depth = n == 0 ? frames() : walked(n - 1);
	__asm__ volatile("" : "+r"(depth)); // no tail call
	return depth;
}
PROBED void jumps(jmp_buf *b, long n) { if (n % 2) longjmp(*b, 1); sum += n; }
}

static void throws(void)
{
	for (long i = 1; i <= ROUNDS; i++)
		sum += catches(i);
}

static void *worker(void *)
{
	for (long i = 1; i <= ROUNDS; i++)
		__atomic_add_fetch(&sum, catches(i), __ATOMIC_SEQ_CST);
	return nullptr;
}

static void threads(void)
{
	pthread_t t[THREADS];
	for (auto &p : t)
		pthread_create(&p, nullptr, worker, nullptr);
	for (auto &p : t)
		pthread_join(p, nullptr);
}

static void deeps(void)
{
	for (int i = 0; i < 20; i++)
		try {
			deep(50);
		} catch (long v) {
			sum += v;
		}
}

static void tails(void)
{
	for (long i = 1; i <= ROUNDS; i++)
		if (i % 3)
			sum += tail(i);
}

static void chooses(void)
{
	for (long i = 1; i <= ROUNDS; i++)
		sum += choose(i);
}

static void backtraces(void)
{
	int shallow = walked(0);
	for (int i = 0; i < 20; i++)
		sum += walked(20) - shallow;
}

static void longjmps(void)
{
	static volatile long i;
	for (i = 0; i < ROUNDS; i++) {
		jmp_buf b;
		if (setjmp(b) == 0)
			jumps(&b, i);
	}
}

// Coroutines in which exceptions are thrown and caught, between switches of stacks.
static ucontext_t back, co[2];
static char room[2][1 << 16];
static void body(int me)
{
	for (long i = 1; i <= ROUNDS; i++) {
		sum += catches(i);
		swapcontext(&co[me], &back);
	}
}

static void coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&co[i]);
		co[i].uc_stack.ss_sp = room[i];
		co[i].uc_stack.ss_size = sizeof room[i];
		co[i].uc_link = &back;
		makecontext(&co[i], (void (*)(void))body, 1, i);
	}
	for (long i = 0; i < 2 * ROUNDS; i++)
		swapcontext(&back, &co[i % 2]);
}

// Threads of children that are killed while they throw.
static void kills(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t p = fork();
		if (p == 0)
			for (;;)
				threads();
		usleep(2000 + 1000 * i);
		kill(p, SIGKILL);
		int status;
		waitpid(p, &status, 0);
		sum += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*f)(void);
	} parts[] = {
		{ "throws", throws }, { "threads", threads }, { "deeps", deeps }, { "tails", tails }, { "chooses", chooses },
		{ "backtraces", backtraces }, { "longjmps", longjmps }, { "coroutines", coroutines }, { "kills", kills },
	};
	for (int i = 1; i < argc; i++) {
		sum = 0;
		for (auto &p : parts)
			if (strcmp(argv[i], p.name) == 0)
				p.f();
		printf("%s %ld\n", argv[i], sum);
		fflush(stdout);
	}
}
