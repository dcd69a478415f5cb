/* corrupt SEED N FILE: starts N copies of a program in whose headers a few bytes are
 * wrong. Each runs, is refused, or ends by a signal; one that goes on is killed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long state;

static unsigned long rnd(void) /* splitmix64 */
{
	unsigned long z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#define HEADERS 0x300 /* of the file and of its segments */

/* spoil changes up to four fields of the headers. */
static void spoil(unsigned char *h)
{
	static const unsigned long odd[] = { 0, 1, 0xfff, 0x1000, 0x200000, 0x4000000, 1ul << 40, 1ul << 47, -1ul, -4096ul };

	for (int n = 1 + rnd() % 4; n > 0; n--) {
		unsigned long at = rnd() % 2 ? 4 + rnd() % (HEADERS - 12) : 16 + 8 * (rnd() % 45);
		unsigned long v = rnd() % 2 ? odd[rnd() % 10] : rnd();
		memcpy(h + at, &v, 1 << rnd() % 4);
	}
}

static void child(const char *path)
{
	struct rlimit space = { 256 << 20, 256 << 20 };

	setsid();
	setrlimit(RLIMIT_AS, &space);
	for (int i = 0; i < 3; i++)
		dup2(open("/dev/null", O_RDWR), i);
	execl(path, path, NULL);
	_exit(errno == ENOEXEC || errno == ENOMEM || errno == EINVAL || errno == ENOENT || errno == EACCES || errno == EIO ? 100 : 101);
}

static int await(int pid)
{
	int status;

	for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
		usleep(1000);
		if (i == 200)
			kill(pid, SIGKILL);
	}
	return status;
}

int main(int argc, char **argv)
{
	static unsigned char whole[2 << 20], head[HEADERS];
	int from = open(argv[3], O_RDONLY), ran = 0, refused = 0, killed = 0, odd = 0;
	long n = atol(argv[2]), size = read(from, whole, sizeof(whole));
	char path[64];

	state = atol(argv[1]);
	snprintf(path, sizeof(path), "/tmp/corrupt%ld", atol(argv[1]));
	if (size < HEADERS)
		return 2;
	for (; n > 0; n--) {
		long length = rnd() % 8 ? size : rnd() % size;
		int f = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

		memcpy(head, whole, HEADERS);
		spoil(head);
		if (write(f, head, HEADERS) != HEADERS || write(f, whole + HEADERS, size - HEADERS) != size - HEADERS || ftruncate(f, length))
			return 3;
		close(f);
		int pid = fork();
		if (pid == 0)
			child(path);
		int status = await(pid);
		if (WIFSIGNALED(status))
			killed++;
		else if (WEXITSTATUS(status) == 100)
			refused++;
		else if (WEXITSTATUS(status) == 101)
			odd++;
		else
			ran++;
	}
	unlink(path);
	printf("%d ran, %d refused, %d ended by a signal, %d odd errors\n", ran, refused, killed, odd);
	return odd != 0;
}
