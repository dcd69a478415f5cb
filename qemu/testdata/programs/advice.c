/* What a program tells of its memory: madvise for fork and for pages that are wanted at once,
 * memory that is locked; and limits of files. It prints the same on Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

enum { PAGE = 4096 };

static void say(const char *what, long r)
{
	int e = errno;

	printf("%s: %ld %s\n", what, r, r < 0 ? strerror(e) : "");
}

#define SAY(call) say(#call, call)

static char *pages(int n, int prot, int flags)
{
	return mmap(0, n * PAGE, prot, flags | MAP_ANONYMOUS, -1, 0);
}

static int file(int size)
{
	char name[] = "/tmp/adviceXXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	if (ftruncate(fd, size))
		perror("ftruncate");
	return fd;
}

/* What a child finds in three pages. */
static void inChild(const char *what, char *m)
{
	unsigned char there;
	int i, status;

	fflush(stdout);
	if (fork() == 0) {
		printf("%s, in a child:", what);
		for (i = 0; i < 3; i++)
			if (mincore(m + i * PAGE, PAGE, &there) < 0)
				printf(" none");
			else
				printf(" '%c'", m[i * PAGE] ? m[i * PAGE] : '0');
		printf("\n");
		fflush(stdout);
		if (fork() == 0) {
			for (i = 0; i < 3; i++)
				printf("%d ", mincore(m + i * PAGE, PAGE, &there));
			printf("in its child\n");
			fflush(stdout);
			_exit(0);
		}
		wait(&status);
		_exit(0);
	}
	wait(&status);
}

static void forks(void)
{
	char *m = pages(3, PROT_READ | PROT_WRITE, MAP_PRIVATE), *shared = pages(1, PROT_READ | PROT_WRITE, MAP_SHARED);
	char *of = mmap(0, PAGE, PROT_READ, MAP_PRIVATE, file(PAGE), 0);

	m[0] = 'a', m[PAGE] = 'b', m[2 * PAGE] = 'c';
	SAY(madvise(m + PAGE, PAGE, MADV_WIPEONFORK));
	inChild("wiped", m);
	SAY(madvise(m + PAGE, PAGE, MADV_KEEPONFORK));
	inChild("kept", m);
	SAY(madvise(m, 2 * PAGE, MADV_DONTFORK));
	inChild("not forked", m);
	SAY(madvise(m, PAGE, MADV_DOFORK));
	inChild("half forked", m);
	SAY(madvise(m, 3 * PAGE, MADV_DOFORK));
	inChild("forked", m);
	SAY(madvise(shared, PAGE, MADV_WIPEONFORK));
	SAY(madvise(shared, PAGE, MADV_KEEPONFORK));
	SAY(madvise(of, PAGE, MADV_WIPEONFORK));
	SAY(madvise(m + 1, PAGE, MADV_DONTFORK));
	munmap(m + PAGE, PAGE);
	SAY(madvise(m, 3 * PAGE, MADV_DONTFORK));
	inChild("around a hole", m);
	SAY(madvise(m, 3 * PAGE, MADV_DOFORK));
}

static void resident(const char *what, char *m, int n)
{
	unsigned char v[8];
	int i;

	printf("%s:", what);
	mincore(m, n * PAGE, v);
	for (i = 0; i < n; i++)
		printf(" %d", v[i] & 1);
	printf("\n");
}

static void populates(void)
{
	char *m = pages(4, PROT_READ | PROT_WRITE, MAP_PRIVATE), *none = pages(1, PROT_NONE, MAP_PRIVATE);
	char *ro = pages(1, PROT_READ, MAP_PRIVATE), *of = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file(PAGE), 0);

	SAY(madvise(m + PAGE, 2 * PAGE, MADV_POPULATE_WRITE));
	resident("written", m, 4);
	SAY(madvise(m, 4 * PAGE, MADV_POPULATE_READ));
	resident("read", m, 4);
	SAY(madvise(none, PAGE, MADV_POPULATE_READ));
	SAY(madvise(none, PAGE, MADV_POPULATE_WRITE));
	SAY(madvise(ro, PAGE, MADV_POPULATE_READ));
	SAY(madvise(ro, PAGE, MADV_POPULATE_WRITE));
	SAY(madvise(of, PAGE, MADV_POPULATE_WRITE));
	SAY(madvise(of, 2 * PAGE, MADV_POPULATE_WRITE));
	SAY(madvise(of, 2 * PAGE, MADV_POPULATE_READ));
	munmap(m + PAGE, PAGE);
	SAY(madvise(m, 4 * PAGE, MADV_POPULATE_READ));
	SAY(madvise(m, 4 * PAGE, MADV_POPULATE_WRITE));
	SAY(madvise(m, 0, MADV_POPULATE_WRITE));
	m = pages(3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE);
	resident("MAP_POPULATE", m, 3);
	m = pages(3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_LOCKED);
	resident("MAP_LOCKED", m, 3);
	SAY(msync(m, PAGE, MS_SYNC | MS_INVALIDATE));
}

static void locks(void)
{
	char *m = pages(4, PROT_READ | PROT_WRITE, MAP_PRIVATE), *none = pages(1, PROT_NONE, MAP_PRIVATE);
	char *of = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file(2 * PAGE), 0);
	int status;

	m[0] = 'a', m[PAGE] = 'b';
	SAY(mlock(m + 5, PAGE));
	resident("locked", m, 4);
	SAY(msync(m, 4 * PAGE, MS_SYNC));
	SAY(msync(m, 4 * PAGE, MS_SYNC | MS_INVALIDATE));
	SAY(msync(m + 2 * PAGE, 2 * PAGE, MS_INVALIDATE));
	SAY(madvise(m, 4 * PAGE, MADV_DONTNEED));
	SAY(madvise(m, PAGE, MADV_FREE));
	SAY(madvise(m, PAGE, MADV_COLD));
	SAY(madvise(m, PAGE, MADV_PAGEOUT));
	printf("'%c' '%c'\n", m[0], m[PAGE]);
	SAY(madvise(m, PAGE, MADV_DONTNEED_LOCKED));
	printf("%d '%c'\n", m[0], m[PAGE]);
	fflush(stdout);
	if (fork() == 0) {
		SAY(msync(m, PAGE, MS_INVALIDATE));
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	SAY(munlock(m, PAGE));
	SAY(msync(m, PAGE, MS_INVALIDATE));
	SAY(msync(m + PAGE, PAGE, MS_INVALIDATE));
	SAY(munlockall());
	SAY(msync(m, 4 * PAGE, MS_INVALIDATE));
	SAY(mlock(none, PAGE));
	SAY(msync(none, PAGE, MS_INVALIDATE));
	munlockall();
	SAY(mlock(of, 2 * PAGE));
	SAY(msync(of, 2 * PAGE, MS_ASYNC | MS_INVALIDATE));
	munlockall();
	SAY(mlock2(m, 4 * PAGE, MLOCK_ONFAULT));
	resident("locked on fault", m, 4);
	SAY(msync(m + 3 * PAGE, PAGE, MS_INVALIDATE));
	munmap(m + PAGE, PAGE);
	SAY(munlock(m, 4 * PAGE)); /* up to the hole */
	SAY(msync(m, PAGE, MS_INVALIDATE));
	SAY(msync(m + 2 * PAGE, PAGE, MS_INVALIDATE));
	SAY(munlock(m + 2 * PAGE, 2 * PAGE));
	SAY(mlock(m, 4 * PAGE)); /* likewise */
	SAY(msync(m, PAGE, MS_INVALIDATE));
	SAY(msync(m + 2 * PAGE, PAGE, MS_INVALIDATE));
	munlockall();
	SAY(mlockall(MCL_CURRENT));
	SAY(msync(m, PAGE, MS_INVALIDATE));
	SAY(msync(pages(1, PROT_READ, MAP_PRIVATE), PAGE, MS_INVALIDATE));
	SAY(mlockall(MCL_FUTURE));
	SAY(msync(m, PAGE, MS_INVALIDATE));
	SAY(msync(pages(1, PROT_READ, MAP_PRIVATE), PAGE, MS_INVALIDATE));
	SAY(munlockall());
	SAY(msync(pages(1, PROT_READ, MAP_PRIVATE), PAGE, MS_INVALIDATE));
}

static volatile int xfsz;

static void onXFSZ(int n) { xfsz++; }

static void sizes(void)
{
	struct rlimit l = {8 * PAGE, RLIM_INFINITY};
	int fd = file(PAGE);

	signal(SIGXFSZ, onXFSZ);
	setrlimit(RLIMIT_FSIZE, &l);
	SAY(fallocate(fd, 0, 0, 8 * PAGE));
	SAY(fallocate(fd, 0, 0, 8 * PAGE + 1));
	SAY(fallocate(fd, 0, 7 * PAGE, 2 * PAGE));
	SAY(ftruncate(fd, 8 * PAGE + 1));
	SAY(pwrite(fd, "ab", 2, 8 * PAGE - 1));
	SAY(pwrite(fd, "ab", 2, 8 * PAGE));
	printf("SIGXFSZ: %d\n", xfsz);
	l.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &l);
	SAY(fallocate(fd, 0, 0, 10 * PAGE));
	SAY(ftruncate(fd, -1));
	SAY(fallocate(fd, 0, INT64_MAX - 1, 1));
	SAY(fallocate(fd, 0, INT64_MAX, 1));
}

static void vectors(void)
{
	char a[8] = "", *bad = pages(1, PROT_NONE, MAP_PRIVATE), *big = pages(3, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	struct iovec v[2] = {{a, 4}, {bad, 4}}, w[2] = {{big, 2 * PAGE}, {bad, 4}};
	int p[2], e = eventfd(0, 0);

	SAY(write(e, bad, 4));
	SAY(write(e, bad, 8));
	SAY(read(e, bad, 4));
	SAY(pipe(p));
	SAY(write(p[1], "abcdefgh", 8));
	SAY(readv(p[0], v, 2));
	SAY(read(p[0], a, 8));
	printf("%.8s\n", a);
	SAY(write(p[1], "abcdefgh", 8));
	v[0].iov_len = 8;
	SAY(readv(p[0], v, 2));
	SAY(write(p[1], "ab", 2));
	v[0].iov_len = 1;
	SAY(write(p[1], "cd", 2));
	SAY(readv(p[0], v, 2));
	SAY(read(p[0], a, 8));
	SAY(writev(p[1], v, 2));
	SAY(writev(p[1], w, 2));
}

int main(void)
{
	setlinebuf(stdout);
	forks();
	populates();
	locks();
	sizes();
	vectors();
	return 0;
}
