/* A variable that main writes, and threads that come later: 60 times in all. */
#include <pthread.h>

volatile long shared __attribute__((aligned(64)));

static void *ten(void *arg)
{
	for (int i = 0; i < 10; i++)
		shared++;
	return arg;
}

int main(void)
{
	for (int i = 0; i < 5; i++) {
		pthread_t t;
		if (pthread_create(&t, 0, ten, 0) || pthread_join(t, 0))
			return 1;
	}
	ten(0);
	return shared != 60;
}
