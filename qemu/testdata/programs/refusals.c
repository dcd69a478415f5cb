/* What Linux refuses to do with files and memory, and what it does besides what it is
 * asked for; it prints the same there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void say(const char *what, long r)
{
	int e = errno;

	printf("%s: %ld %s\n", what, r, r < 0 ? strerror(e) : "");
}

#define SAY(call) say(#call, call)
#define TRY(call) (errno = 0, say(#call, (call) >= 0 ? 0 : -1))

static volatile int hits;
static void onSignal(int sig) { hits++; }

static int made(const char *name, int size)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	ftruncate(fd, size);
	return fd;
}

static void limits(void)
{
	struct rlimit old, l;
	char b[100] = "";
	int fd = made("limited", 0), p[2];

	getrlimit(RLIMIT_FSIZE, &old);
	l = old;
	l.rlim_cur = 50;
	signal(SIGXFSZ, onSignal);
	SAY(setrlimit(RLIMIT_FSIZE, &l));
	SAY(write(fd, b, 40));
	SAY(write(fd, b, 40));
	printf("signals %d\n", hits);
	SAY(write(fd, b, 1));
	printf("signals %d\n", hits);
	SAY(write(fd, b, 0));
	SAY(pwrite(fd, b, 20, 45));
	SAY(pwrite(fd, b, 20, 50));
	SAY(pwrite(fd, b, 20, 70));
	printf("signals %d\n", hits);
	SAY(ftruncate(fd, 50));
	SAY(ftruncate(fd, 51));
	SAY(truncate("limited", 51));
	SAY(ftruncate(fd, 10));
	SAY(fallocate(fd, 0, 0, 60));
	printf("signals %d\n", hits);
	fcntl(fd, F_SETFL, O_APPEND);
	SAY(write(fd, b, 60));
	SAY(write(fd, b, 60));
	printf("signals %d\n", hits);
	SAY(lseek(fd, 0, SEEK_END));
	int from = open("/proc/self/exe", O_RDONLY);
	fcntl(fd, F_SETFL, 0);
	SAY(sendfile(fd, from, NULL, 60));
	lseek(fd, 45, SEEK_SET);
	SAY(sendfile(fd, from, NULL, 60));
	hits = 0; /* Linux may have tried once more */
	pipe(p);
	SAY(write(p[1], b, 100));
	SAY(write(open("/dev/null", O_WRONLY), b, 100));
	l.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &l);
	SAY(open("empty", O_RDWR | O_CREAT, 0600) < 0);
	if (fork() == 0) {
		signal(SIGXFSZ, SIG_DFL);
		write(fd, b, 1);
		_exit(0);
	}
	int status;
	wait(&status);
	printf("status: signal %d\n", WTERMSIG(status));
	setrlimit(RLIMIT_FSIZE, &old);
	unlink("limited"), unlink("empty");
}

static void slashes(void)
{
	mkdir("d", 0755);
	close(made("f", 0));
	symlink("absent/", "l");
	symlink("absent", "dangling");
	symlink("d", "ld");
	symlink("d/", "lds");
	symlink("f", "lf");
	symlink("f/", "lfs");
	TRY(open("l", O_CREAT | O_WRONLY, 0600));
	TRY(open("new/", O_CREAT | O_WRONLY, 0600));
	TRY(open("f/", O_CREAT | O_WRONLY, 0600));
	TRY(open("f/", O_RDONLY));
	TRY(open("lf/", O_RDONLY));
	TRY(open("lfs", O_RDONLY));
	TRY(open("lfs", O_RDONLY | O_CREAT, 0600));
	TRY(open("d/", O_RDONLY));
	TRY(open("d/", O_RDONLY | O_CREAT, 0600));
	TRY(open("ld/", O_RDONLY | O_NOFOLLOW));
	TRY(open("d/.", O_RDONLY | O_CREAT, 0600));
	TRY(open("d/..", O_WRONLY | O_CREAT, 0600));
	TRY(open("new/", O_RDONLY | O_DIRECTORY | O_CREAT, 0600));
	TRY(open("dangling", O_CREAT | O_EXCL | O_WRONLY, 0600));
	TRY(open("dangling/", O_CREAT | O_WRONLY, 0600));
	TRY(creat("new/", 0600));
	TRY(creat("d/", 0600));
	TRY(link("f", "new/"));
	TRY(link("f/", "new"));
	TRY(link("lf/", "new"));
	TRY(link("d/", "new"));
	TRY(link("f", "d/"));
	TRY(link("f", "f/"));
	TRY(link("f", "dangling"));
	TRY(link("f", "dangling/"));
	TRY(symlink("f", "new/"));
	TRY(symlink("f", "d/"));
	TRY(symlink("f", "f/"));
	TRY(symlink("f", "dangling/"));
	TRY(mknod("new/", S_IFREG | 0600, 0));
	TRY(mknod("d/", S_IFREG | 0600, 0));
	TRY(mkfifo("new/", 0600));
	TRY(mkdir("new/", 0700));
	TRY(rmdir("new/"));
	TRY(mkdir("new//", 0700));
	TRY(rmdir("new//"));
	TRY(mkdir("f/", 0700));
	TRY(mkdir("l", 0700));
	TRY(mkdir("dangling/", 0700));
	TRY(mkdir("absent/x", 0700));
	TRY(mkdir("d/.", 0700));
	TRY(mkdir("new/.", 0700));
	TRY(unlink("f/"));
	TRY(unlink("d/"));
	TRY(unlink("ld/"));
	TRY(unlink("lf/"));
	TRY(unlink("lfs"));
	TRY(unlink("absent/"));
	TRY(unlink("d/."));
	TRY(unlink("."));
	TRY(unlink("/"));
	TRY(rmdir("ld/"));
	TRY(rmdir("ld"));
	TRY(rmdir("f/"));
	TRY(rmdir("d/."));
	TRY(rmdir("d/.."));
	TRY(rmdir("/"));
	TRY(rmdir("absent/"));
	TRY(rename("f", "new/"));
	TRY(rename("f/", "new"));
	TRY(rename("f", "d"));
	TRY(rename("d", "f"));
	TRY(rename("d/", "f/"));
	TRY(rename("d/", "e/"));
	TRY(rename("e", "d/"));
	TRY(rename("d", "absent/e"));
	TRY(rename("ld/", "new"));
	TRY(rename("d", "ld/"));
	TRY(rename("d", "d/"));
	TRY(rename("d", "d/x"));
	TRY(rename("d/.", "new"));
	TRY(rename("absent", "new/"));
	TRY(rename("f", "f/"));
	TRY(rename("lf", "new/"));
	TRY(rename("f", "/"));
	TRY(rename("f", "dangling/"));
	struct stat st;
	char b[100];
	TRY(stat("f/", &st));
	TRY(stat("lf/", &st));
	TRY(lstat("ld/", &st));
	TRY(lstat("dangling/", &st));
	TRY(lstat("l", &st));
	TRY(stat("l", &st));
	TRY(readlink("ld/", b, 10));
	TRY(readlink("lf/", b, 10));
	TRY(readlink("dangling/", b, 10));
	TRY(truncate("f/", 0));
	TRY(chmod("f/", 0600));
	TRY(access("f/", F_OK));
	TRY(chdir("f/"));
	TRY(chdir("ld/"));
	chdir("..");
	TRY(open("d/f/", O_CREAT | O_EXCL | O_WRONLY, 0600));
	unlink("l"), unlink("dangling"), unlink("ld"), unlink("lds"), unlink("lf"), unlink("lfs"), unlink("f"), unlink("new"), unlink("absent"), unlink("d/f"), rmdir("d"), rmdir("e");
}

static int modeOf(const char *name)
{
	struct stat st;

	stat(name, &st);
	return st.st_mode;
}

#define MODE(call) printf(#call ": %d, ", (int)(call)), printf("mode %o\n", modeOf("f"))

static void owners(void)
{
	int fd = made("f", 100);
	char *p;

	chmod("f", 06755);
	MODE(chown("f", -1, -1));
	chmod("f", 06755);
	MODE(chown("f", 5, -1));
	chmod("f", 06745);
	MODE(chown("f", -1, 5));
	chmod("f", 06755);
	MODE(fchown(fd, 0, 0));
	chmod("f", 06755);
	MODE(lchown("f", 0, 0));
	chmod("f", 06755);
	MODE(write(fd, "x", 1));
	MODE(ftruncate(fd, 10));
	MODE(ftruncate(fd, 1000));
	MODE(truncate("f", 1001));
	MODE(fallocate(fd, 0, 0, 5000));
	MODE(open("f", O_WRONLY | O_TRUNC) < 0);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ftruncate(fd, PAGE);
	*p = 1;
	MODE(0);
	MODE(chmod("f", 02745));
	MODE(chown("f", 0, 0));
	mkdir("f.d", 0755);
	chmod("f.d", 06755);
	printf("%d, %o\n", chown("f.d", 1, 1), modeOf("f.d"));
	chmod("f.d", 02755);
	mkdir("f.d/sub", 0700);
	printf("%o\n", modeOf("f.d/sub"));
	rmdir("f.d/sub");
	rmdir("f.d");
	unlink("f");
}

static void zeroes(void)
{
	int fd = open("/dev/zero", O_RDWR), ro = open("/dev/zero", O_RDONLY), status;
	char *a = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	char *b = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	printf("%d %d\n", a != MAP_FAILED, b != MAP_FAILED);
	if (a == MAP_FAILED || b == MAP_FAILED)
		return;
	printf("%d %d\n", a[5000], b[5000]);
	a[1] = b[1] = 1;
	if (fork() == 0) {
		printf("%d %d\n", a[1], b[1]);
		a[1] = b[1] = 2;
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	printf("%d %d\n", a[1], b[1]);
	printf("%d\n", mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ro, 0) == MAP_FAILED ? errno : 0);
	printf("%d\n", mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, ro, PAGE) == MAP_FAILED ? errno : 0);
	printf("%d\n", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, open("/dev/null", O_RDWR), 0) == MAP_FAILED ? errno : 0);
	printf("%d\n", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, open("/", O_RDONLY), 0) == MAP_FAILED ? errno : 0);
	munmap(a, 2 * PAGE), munmap(b, 2 * PAGE);
}

static void pathsOnly(void)
{
	struct stat st;
	struct statfs sf;
	char b[10];
	struct iovec v = { b, 10 };
	int dir, fd, n, on = 1;

	close(made("f", 100));
	fd = open("f", O_PATH);
	dir = open(".", O_PATH);
	TRY(read(fd, b, 1));
	TRY(write(fd, b, 1));
	TRY(pread(fd, b, 1, 0));
	TRY(readv(fd, &v, 1));
	TRY(lseek(fd, 0, SEEK_SET));
	TRY(fchmod(fd, 0600));
	TRY(fchown(fd, 0, 0));
	TRY(ftruncate(fd, 0));
	TRY(fallocate(fd, 0, 0, 10));
	TRY(fsetxattr(fd, "user.a", "b", 1, 0));
	TRY(fgetxattr(fd, "user.a", b, 10));
	TRY(flistxattr(fd, b, 10));
	TRY(fremovexattr(fd, "user.a"));
	TRY(ioctl(fd, FIONREAD, &n));
	TRY(ioctl(fd, FIONBIO, &on));
	TRY(ioctl(fd, FIOCLEX));
	TRY(fsync(fd));
	TRY(fdatasync(fd));
	TRY(syncfs(fd));
	TRY(flock(fd, LOCK_EX));
	TRY(fcntl(fd, F_GETFL));
	TRY(fcntl(fd, F_SETFL, O_NONBLOCK));
	TRY(fcntl(fd, F_SETFD, FD_CLOEXEC));
	TRY(fcntl(fd, F_GETFD));
	struct flock l = { F_WRLCK };
	TRY(fcntl(fd, F_SETLK, &l));
	TRY(fcntl(fd, F_GETLK, &l));
	TRY(dup(fd));
	TRY(fstat(fd, &st));
	TRY(fstatfs(fd, &sf));
	TRY(futimens(fd, NULL));
	TRY(syscall(SYS_utimensat, fd, "", NULL, AT_EMPTY_PATH));
	TRY(posix_fadvise(fd, 0, 0, 0) ? (errno = posix_fadvise(fd, 0, 0, 0), -1) : 0);
	TRY(syscall(SYS_readahead, fd, 0, 10));
	TRY(syscall(SYS_sync_file_range, fd, 0, 10, 0));
	TRY(syscall(SYS_getdents64, dir, b, 10));
	TRY(fchdir(dir));
	TRY(fchdir(fd));
	TRY(openat(dir, "f", O_RDONLY));
	TRY(sendfile(1, fd, NULL, 1));
	TRY(syscall(SYS_copy_file_range, fd, NULL, fd, NULL, 1, 0));
	TRY(fchownat(fd, "", 0, 0, AT_EMPTY_PATH));
	TRY(linkat(fd, "", AT_FDCWD, "f2", AT_EMPTY_PATH));
	TRY(fchmodat(AT_FDCWD, "f", 0600, 0));
	printf("%d\n", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? errno : 0);
	TRY(syscall(SYS_poll, (int[]){ fd, 1 }, 1, 0));
	close(fd), close(dir);
	unlink("f"), unlink("f2");
}

static void memory(void)
{
	char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), vec[10];
	int fd = made("f", 3 * PAGE + 1), q[2];

	munmap(p + 4 * PAGE, PAGE);
	SAY(msync(p, PAGE, MS_SYNC));
	SAY(msync(p, PAGE, MS_ASYNC));
	SAY(msync(p, PAGE, 0));
	SAY(msync(p + 1, PAGE, MS_SYNC));
	SAY(msync(p, PAGE, MS_SYNC | MS_ASYNC));
	SAY(msync(p, PAGE, MS_INVALIDATE));
	SAY(msync(p, PAGE, 8));
	SAY(msync(p, 8 * PAGE, MS_SYNC));
	SAY(msync(p, 0, MS_SYNC));
	SAY(msync(p + 4 * PAGE, PAGE, MS_ASYNC));
	SAY(msync(p, -PAGE, MS_SYNC));
	SAY(msync(p, -1, MS_SYNC));
	SAY(mlock(p, PAGE));
	SAY(munlock(p, PAGE));
	SAY(mlock(p, 8 * PAGE));
	SAY(munlock(p, 8 * PAGE));
	SAY(mlock(p + 1, 10));
	SAY(mlockall(0));
	SAY(mlockall(8));
	SAY(syscall(SYS_mlock2, p, PAGE, 2));
	SAY(munlockall());
	for (int a = 0; a < 30; a++) {
		if (a == 9 || a == MADV_REMOVE || a == MADV_MERGEABLE || a == MADV_UNMERGEABLE || a == MADV_HUGEPAGE || a == MADV_NOHUGEPAGE ||
		    a == MADV_DONTFORK || a == MADV_DOFORK || a == MADV_WIPEONFORK || a == MADV_KEEPONFORK || a == 22 || a == 23 || a == 25)
			continue;
		printf("advice %d: ", a);
		SAY(madvise(p, PAGE, a));
		SAY(madvise(p, 8 * PAGE, a));
	}
	SAY(madvise(p + 1, PAGE, MADV_NORMAL));
	SAY(madvise(p, 0, MADV_NORMAL));
	SAY(madvise(p, 0, 99));
	SAY(madvise(p, -1, MADV_NORMAL));
	SAY(madvise(p, -PAGE, MADV_DONTNEED));
	SAY(madvise(p + 4 * PAGE, PAGE, MADV_DONTNEED));
	SAY(mincore(p, 4 * PAGE, vec));
	SAY(mincore(p, 5 * PAGE, vec));
	SAY(mincore(p + 1, PAGE, vec));
	SAY(mincore(p, 0, vec));
	SAY(mincore(p, PAGE, (void *)1));
	SAY(mincore(p, -PAGE, vec));
	char *f = mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	write(fd, p, 3 * PAGE);
	SAY(mincore(f, 4 * PAGE, vec));
	printf("%d%d%d\n", vec[0] & 1, vec[1] & 1, vec[2] & 1);
	madvise(p, 4 * PAGE, MADV_DONTNEED);
	p[PAGE] = 1;
	SAY(mincore(p, 4 * PAGE, vec));
	printf("%d%d%d%d\n", vec[0] & 1, vec[1] & 1, vec[2] & 1, vec[3] & 1);
	SAY(mprotect(p, 8 * PAGE, PROT_READ));
	SAY(mprotect(p + 1, PAGE, PROT_READ));
	SAY(mprotect(p, PAGE, 99));
	SAY(mprotect(p, 0, PROT_READ));
	SAY(munmap(p, 0));
	SAY(munmap(p + 1, PAGE));
	SAY(munmap((void *)-PAGE, PAGE));
	pipe(q);
#define FADVISE(...) (errno = posix_fadvise(__VA_ARGS__), errno ? -1 : 0)
	for (int a = -1; a < 8; a++)
		SAY(FADVISE(fd, 0, 0, a));
	SAY(FADVISE(fd, 0, -1, 0));
	SAY(FADVISE(fd, -1, 10, 0));
	SAY(FADVISE(q[0], 0, 0, 0));
	SAY(FADVISE(q[0], 0, 0, 99));
	SAY(FADVISE(99, 0, 0, 0));
	SAY(FADVISE(open("/dev/null", O_RDONLY), 0, 0, 0));
	SAY(FADVISE(open("/", O_RDONLY), 0, 0, 0));
	SAY(fsync(fd));
	SAY(fsync(q[0]));
	SAY(fdatasync(q[1]));
	SAY(fsync(open("/dev/null", O_RDONLY)));
	SAY(fsync(open("/", O_RDONLY)));
	SAY(fsync(eventfd(0, 0)));
	SAY(fsync(99));
	SAY(syncfs(q[0]));
	SAY(syncfs(99));
	SAY(readahead(fd, 0, 10));
	SAY(readahead(q[0], 0, 10));
	SAY(readahead(open("/dev/null", O_RDONLY), 0, 10));
	SAY(readahead(open("f", O_WRONLY), 0, 10));
	SAY(readahead(open("/", O_RDONLY), 0, 10));
	SAY(sync_file_range(fd, 0, 10, 0));
	SAY(sync_file_range(fd, 0, 10, 8));
	SAY(sync_file_range(fd, -1, 10, 0));
	SAY(sync_file_range(fd, 0, -1, 0));
	SAY(sync_file_range(q[0], 0, 10, 0));
	SAY(ftruncate(q[1], 0));
	SAY(ftruncate(fd, -1));
	SAY(ftruncate(open("f", O_RDONLY), 0));
	SAY(truncate("/", 0));
	SAY(truncate("/dev/null", 0));
	SAY(ftruncate(open("/dev/null", O_RDWR), 0));
	SAY(fallocate(q[1], 0, 0, 1));
	SAY(fallocate(open("/dev/null", O_RDWR), 0, 0, 1));
	SAY(lseek(q[0], 0, SEEK_CUR));
	SAY(lseek(fd, -1, SEEK_SET));
	SAY(lseek(fd, 0, 99));
	close(fd);
	unlink("f");
}

static long futex(void *at, int op, int val, void *timeout, void *at2, int val3)
{
	return syscall(SYS_futex, at, op, val, timeout, at2, val3);
}

static void futexes(void)
{
	static int words[4];
	char *bad = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *ro = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec wrong = { 0, 1000000000 }, negative = { -1, 0 }, none = { 0, 0 };

	munmap(gone, PAGE);
	SAY(futex(words, FUTEX_WAKE, 1, 0, 0, 0));
	SAY(futex((char *)words + 1, FUTEX_WAKE, 1, 0, 0, 0));
	SAY(futex((char *)words + 1, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
	SAY(futex((char *)words + 2, FUTEX_WAIT, 1, 0, 0, 0));
	SAY(futex(NULL, FUTEX_WAKE, 1, 0, 0, 0));
	SAY(futex(NULL, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
	SAY(futex(gone, FUTEX_WAKE, 1, 0, 0, 0));
	SAY(futex(gone, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
	SAY(futex(bad, FUTEX_WAKE, 1, 0, 0, 0));
	SAY(futex(bad, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
	SAY(futex(ro, FUTEX_WAKE, 1, 0, 0, 0));
	SAY(futex(ro, FUTEX_WAIT, 1, 0, 0, 0));
	SAY(futex(bad, FUTEX_WAIT, 1, 0, 0, 0));
	SAY(futex(bad, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0));
	SAY(futex((void *)-4096, FUTEX_WAKE, 1, 0, 0, 0));
	SAY(futex((void *)-4096, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0));
	SAY(futex(words, FUTEX_WAIT, 1, 0, 0, 0));
	SAY(futex(words, FUTEX_WAIT, 1, &wrong, 0, 0));
	SAY(futex(words, FUTEX_WAIT, 0, &negative, 0, 0));
	SAY(futex(words, FUTEX_WAIT, 0, &none, 0, 0));
	SAY(futex(words, FUTEX_WAIT, 0, (void *)1, 0, 0));
	SAY(futex(words, FUTEX_WAIT_BITSET, 0, &none, 0, 0));
	SAY(futex(words, FUTEX_WAKE_BITSET, 1, 0, 0, 0));
	SAY(futex(words, FUTEX_WAKE_BITSET, 1, 0, 0, 1));
	SAY(futex(words, FUTEX_REQUEUE, 1, (void *)1, words + 1, 0));
	SAY(futex(words, FUTEX_REQUEUE, 1, (void *)1, (char *)words + 1, 0));
	SAY(futex(words, FUTEX_REQUEUE, -1, (void *)1, words + 1, 0));
	SAY(futex(words, FUTEX_REQUEUE, 1, (void *)-1, words + 1, 0));
	SAY(futex(words, FUTEX_REQUEUE, 1, (void *)1, NULL, 0));
	SAY(futex(words, FUTEX_CMP_REQUEUE, 1, (void *)1, words + 1, 5));
	SAY(futex(words, FUTEX_CMP_REQUEUE, 1, (void *)1, words + 1, 0));
	SAY(futex(words, FUTEX_WAKE_OP, 1, (void *)1, words + 1, 0));
	SAY(futex(words, FUTEX_WAKE_OP, 1, (void *)1, (char *)words + 1, 0));
	SAY(futex(words, FUTEX_WAKE_OP, 1, (void *)1, NULL, 0));
	SAY(futex(words, FUTEX_WAKE_OP, 1, (void *)1, words + 1, 0x70000000 | 0x0f000000));
	SAY(futex(words, 77, 1, 0, 0, 0));
	SAY(futex(words, FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 1, 0, 0, 0));
	SAY(futex(words, FUTEX_WAKE, -1, 0, 0, 0));
	SAY(futex(words, FUTEX_WAKE, 0, 0, 0, 0));
}

static void executables(void)
{
	int in = open("/proc/self/exe", O_RDONLY), out = open("copy", O_RDWR | O_CREAT | O_TRUNC, 0755), n, status, p[2];
	static char b[1 << 16];

	while ((n = read(in, b, sizeof(b))) > 0)
		write(out, b, n);
	SAY(execl("copy", "copy", "exit", NULL));
	int ro = open("copy", O_RDONLY);
	close(out);
	pipe(p);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(p[1], 1);
		execl("copy", "copy", "wait", NULL);
		_exit(9);
	}
	read(p[0], b, 1);
	TRY(open("copy", O_WRONLY));
	TRY(open("copy", O_RDWR));
	TRY(open("copy", O_RDONLY));
	TRY(open("copy", O_WRONLY | O_TRUNC));
	TRY(open("copy", O_RDONLY | O_TRUNC));
	TRY(truncate("copy", 5));
	TRY(open("copy", O_PATH));
	SAY(rename("copy", "copy2"));
	SAY(unlink("copy2"));
	kill(pid, SIGKILL);
	wait(&status);
	TRY(open("/proc/self/exe", O_WRONLY));
	char name[30];
	sprintf(name, "/proc/self/fd/%d", ro);
	TRY(open(name, O_RDWR));
	close(ro);
	close(made("text", 0));
	out = open("text", O_RDWR);
	write(out, "#!/bin/sh\nexit 3\n", 17);
	chmod("text", 0755);
	SAY(execl("text", "text", NULL));
	close(out);
	unlink("text");
}

/* ends: what is behind the end of a file reads as zeroes, whatever was there. */
static void ends(void)
{
	int fd = made("f", PAGE + 100);
	char *s = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0), b[4] = { 9, 9, 9, 9 };

	memset(s, 1, PAGE + 100);
	printf("%d %d\n", s[PAGE + 99], s[PAGE + 100]);
	memset(s + PAGE + 100, 7, 1000); /* behind the end */
	SAY(pread(fd, b, 4, PAGE + 98));
	SAY(ftruncate(fd, PAGE + 50));
	printf("cut: %d %d %d\n", s[PAGE + 49], s[PAGE + 50], s[PAGE + 120]);
	SAY(ftruncate(fd, PAGE + 500));
	printf("longer: %d %d %d\n", s[PAGE + 50], s[PAGE + 120], s[PAGE + 400]);
	pread(fd, b, 4, PAGE + 110);
	printf("read: %d %d\n", b[0], b[1]);
	SAY(ftruncate(fd, PAGE + 100));
	memset(s + PAGE + 100, 7, 1000);
	SAY(ftruncate(fd, PAGE + 600));
	pread(fd, b, 4, PAGE + 110);
	printf("behind the end, then longer: %d %d\n", s[PAGE + 110], b[0]);
	SAY(ftruncate(fd, PAGE + 100));
	memset(s + PAGE + 100, 7, 1000);
	SAY(pwrite(fd, "x", 1, PAGE + 300));
	pread(fd, b, 4, PAGE + 110);
	printf("behind the end, then written: %d %d\n", s[PAGE + 110], b[0]);
	SAY(ftruncate(fd, PAGE + 100));
	memset(s + PAGE + 100, 7, 1000);
	SAY(fallocate(fd, 0, 0, PAGE + 300));
	pread(fd, b, 4, PAGE + 110);
	printf("behind the end, then fallocate: %d %d\n", s[PAGE + 110], b[0]);
	SAY(ftruncate(fd, PAGE + 100));
	memset(s + PAGE + 100, 7, 1000);
	fcntl(fd, F_SETFL, O_APPEND);
	SAY(write(fd, "x", 1));
	pread(fd, b, 4, PAGE + 100);
	printf("behind the end, then appended: %d\n", b[0]);
	SAY(ftruncate(fd, 10));
	SAY(ftruncate(fd, 2 * PAGE));
	printf("%d %d %d\n", s[9], s[10], s[PAGE + 5]);
	p[5] = 3;
	SAY(ftruncate(fd, 4));
	printf("private: %d\n", p[5]);
	SAY(ftruncate(fd, 0));
	SAY(ftruncate(fd, 100));
	printf("private: %d\n", p[5]);
	close(fd);
	unlink("f");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1) {
		write(1, "x", 1);
		if (!strcmp(argv[1], "wait"))
			for (;;)
				pause();
		return 0;
	}
	char dir[] = "/tmp/refusalsXXXXXX";
	umask(022);
	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	limits();
	slashes();
	owners();
	zeroes();
	pathsOnly();
	memory();
	futexes();
	executables();
	ends();
	chdir("/");
	SAY(rmdir(dir));
	return 0;
}
