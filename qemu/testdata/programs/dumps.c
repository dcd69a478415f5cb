/* It aborts three calls deep, while another thread waits, for a core file. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t both;

static void *waits(void *arg)
{
	pthread_barrier_wait(&both);
	pause();
	return arg;
}

__attribute__((noinline)) static void innermost(int n)
{
	if (n == 3)
		abort();
	__asm__("");
}

__attribute__((noinline)) void outer(int n)
{
	innermost(n + 1);
	__asm__("");
}

int main(void)
{
	pthread_t t;

	pthread_barrier_init(&both, 0, 2);
	if (pthread_create(&t, 0, waits, 0))
		return 1;
	pthread_barrier_wait(&both);
	outer(2);
	return 0;
}
