/* Threads that share a lock, a condition, memory and files. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 5000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t start;
static long counted, whose;
static __thread long own;

static void *count(void *arg)
{
	pthread_barrier_wait(&start);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		counted++;
		own++;
		pthread_mutex_unlock(&lock);
		if (i % 1000 == 0)
			free(malloc(200000));
	}
	for (int i = 0; i < 20; i++) { /* in turn */
		pthread_mutex_lock(&lock);
		while (whose % THREADS != (long)arg)
			pthread_cond_wait(&turn, &lock);
		whose++;
		pthread_cond_broadcast(&turn);
		pthread_mutex_unlock(&lock);
	}
	return (void *)(own + (long)arg);
}

int main(void)
{
	pthread_t t[THREADS];
	pthread_barrier_init(&start, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, count, (void *)i))
			return 1;
	for (long i = 0; i < THREADS; i++) {
		void *r;
		pthread_join(t[i], &r);
		if ((long)r != ROUNDS + i)
			printf("thread %ld returned %ld\n", i, (long)r);
	}
	printf("%ld counted, %ld turns\n", counted, whose);
	/* Threads that still sleep end with the process. */
	pthread_create(&t[0], NULL, (void *(*)(void *))pause, NULL);
	exit(3);
}
