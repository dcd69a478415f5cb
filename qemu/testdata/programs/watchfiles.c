/* What inotify tells of files and directories; it prints the same on Linux. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int fd;
static unsigned first; /* the cookie that was seen last */
static const char *fails(long result) { return result < 0 ? strerror(errno) : "no"; }

static void events(const char *what)
{
	static const char *names[] = { "ACCESS", "MODIFY", "ATTRIB", "CLOSE_WRITE", "CLOSE_NOWRITE", "OPEN", "MOVED_FROM", "MOVED_TO",
		"CREATE", "DELETE", "DELETE_SELF", "MOVE_SELF" };
	char buf[8192] __attribute__((aligned(8)));
	printf("%s:", what);
	for (;;) {
		ssize_t n = read(fd, buf, sizeof buf);
		if (n <= 0)
			break;
		for (char *p = buf; p < buf + n;) {
			struct inotify_event *e = (void *)p;
			printf(" [%d", e->wd);
			for (int i = 0; i < 12; i++)
				if (e->mask & 1 << i)
					printf(" %s", names[i]);
			if (e->mask & IN_ISDIR) printf(" dir");
			if (e->mask & IN_IGNORED) printf(" IGNORED");
			if (e->mask & IN_Q_OVERFLOW) printf(" OVERFLOW");
			if (e->mask & IN_UNMOUNT) printf(" UNMOUNT");
			if (e->cookie) { printf(" %s", e->cookie == first ? "same" : "cookie"); first = e->cookie; }
			printf(" %u %s]", e->len, e->len ? e->name : "-");
			p += sizeof *e + e->len;
		}
	}
	printf("\n");
}

static void put(const char *name) { int f = open(name, O_CREAT | O_WRONLY, 0644); write(f, "x", 1); close(f); }
static int watch(const char *name, unsigned mask) { return inotify_add_watch(fd, name, mask); }

int main(void)
{
	char dir[] = "/tmp/watchXXXXXX", text[100];
	struct stat s;
	if (chdir(mkdtemp(dir)))
		return 1;
	setvbuf(stdout, NULL, _IONBF, 0);
	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	printf("flags %#x, empty %s, write %s\n", fcntl(fd, F_GETFL), fails(read(fd, text, 100)), fails(write(fd, text, 1)));
	mkdir("d", 0755);
	mkdir("e", 0755);
	printf("watches %d", watch("d", IN_ALL_EVENTS));
	printf(" %d", watch("e", IN_ALL_EVENTS));
	printf(" again %d\n", watch("d", IN_ALL_EVENTS));
	close(creat("d/c", 0644)); unlink("d/c"); events("creat");
	put("d/f"); events("create, write");
	printf("watch %d\n", watch("d/f", IN_ALL_EVENTS));
	int f = open("d/f", O_RDWR); events("open");
	read(f, text, 5); events("read");
	read(f, text, 5); events("read at the end");
	pread(f, text, 1, 0); events("pread");
	write(f, text, 3); events("write");
	pwrite(f, text, 3, 0); events("pwrite");
	ftruncate(f, 1); events("ftruncate");
	ftruncate(f, 1); events("to the same size");
	fchmod(f, 0600); events("fchmod");
	fchown(f, 0, 0); events("fchown");
	futimens(f, NULL); events("futimens");
	struct timespec ts[2] = { { 5, 0 }, { 0, UTIME_OMIT } };
	utimensat(AT_FDCWD, "d/f", ts, 0); events("access time");
	ts[0].tv_nsec = UTIME_OMIT; ts[1].tv_nsec = 0;
	utimensat(AT_FDCWD, "d/f", ts, 0); events("modification time");
	close(f); events("close");
	close(open("d/f", O_RDONLY)); events("open for reading");
	close(open("d/f", O_WRONLY | O_TRUNC)); events("truncating");
	put("d/f"); events("once more");
	close(open("d/f", O_WRONLY | O_TRUNC)); events("truncating what is long");
	truncate("d/f", 10); events("truncate");
	close(open("d/f", O_PATH)); events("O_PATH");
	chmod("d/f", 0644); events("chmod");
	chmod("d", 0755); events("chmod of the directory");
	stat("d/f", &s); access("d/f", R_OK); events("stat");
	link("d/f", "e/g"); events("link");
	symlink("f", "d/s"); events("symlink");
	close(open("d/s", O_RDONLY)); events("open through it");
	mkfifo("d/p", 0600); events("mkfifo");
	mkdir("d/sub", 0755); events("mkdir");
	printf("watch %d\n", watch("d/sub", IN_ALL_EVENTS));
	rename("d/f", "e/h"); events("rename to another");
	rename("e/h", "e/i"); events("rename in place");
	rename("d/sub", "e/sub"); events("rename of a directory");
	rename("e/i", "e/g"); events("rename to the same file");
	put("e/j"); events("another");
	printf("watch %d\n", watch("e/j", IN_ALL_EVENTS));
	rename("e/i", "e/j"); events("rename over it");
	rmdir("e/sub"); events("rmdir");
	unlink("d/s"); unlink("d/p"); events("unlink of others");
	unlink("e/g"); events("unlink of one of two names");
	unlink("e/j"); events("unlink of the last");
	put("d/k"); watch("d/k", IN_ALL_EVENTS); f = open("d/k", O_RDWR); events("another");
	unlink("d/k"); events("unlink of what is open");
	write(f, text, 1); events("write without a name");
	close(f); events("and close");
	put("d/k"); events("another");
	printf("excl %d\n", watch("d", IN_ALL_EVENTS | IN_EXCL_UNLINK));
	f = open("d/k", O_RDWR); unlink("d/k"); events("unlink");
	write(f, text, 1); close(f); events("not told");

	DIR *l = opendir("d"); readdir(l); closedir(l); events("readdir");
	printf("mask add %d", watch("e", IN_OPEN | IN_MASK_ADD));
	printf(" set %d\n", watch("e", IN_OPEN));
	put("e/x"); events("only open");
	watch("e", IN_CLOSE_WRITE | IN_MASK_ADD);
	put("e/x"); events("and close");
	printf("create %s", fails(watch("e", IN_OPEN | IN_MASK_CREATE)));
	printf(", both %s", fails(watch("e", IN_OPEN | IN_MASK_CREATE | IN_MASK_ADD)));
	printf(", only dir %s, no bits %s, ", fails(watch("e/x", IN_OPEN | IN_ONLYDIR)), fails(watch("e/x", 0)));
	printf("none %s, no file %s, no inotify %s\n", fails(watch("none", IN_OPEN)), fails(inotify_add_watch(99, "e", IN_OPEN)), fails(inotify_add_watch(0, "e", IN_OPEN)));
	printf("remove %s, %s\n", fails(inotify_rm_watch(fd, 2)), fails(inotify_rm_watch(fd, 2)));
	events("ignored");
	int w = watch("e/x", IN_ONESHOT | IN_MODIFY);
	put("e/x"); put("e/x"); events("one shot");
	printf("gone %s, next %d\n", fails(inotify_rm_watch(fd, w)), watch("e/x", IN_ALL_EVENTS) - w);
	symlink("x", "e/l");
	w = watch("e/l", IN_ALL_EVENTS | IN_DONT_FOLLOW);
	close(open("e/l", O_RDONLY)); events("the link");
	unlink("e/l"); events("and its end");
	for (int i = 0; i < 3; i++) { put("d/m"); put("d/n"); }
	int n; ioctl(fd, FIONREAD, &n);
	struct pollfd p = { fd, POLLIN };
	printf("fionread %d", n);
	printf(", poll %d, short %s\n", poll(&p, 1, 0), fails(read(fd, text, 16)));
	printf("some %zd\n", read(fd, text, 100));
	events("the rest");
	put("d/same"); events("same");
	f = open("d/same", O_WRONLY); write(f, "a", 1); write(f, "b", 1); write(f, "c", 1); close(f); events("merged");
	rename("d", "moved"); events("rename of the watched");
	put("moved/y"); events("in it");
	int old = open("moved/y", O_WRONLY); rename("moved/y", "moved/z"); write(old, "x", 1); close(old); events("renamed while open");
	unlink("moved/m"); unlink("moved/n"); unlink("moved/same"); unlink("moved/z"); events("empty");
	rmdir("moved"); events("rmdir of the watched");
	unlink("e/x"); rmdir("e"); events("rest");
	printf("bad init %s\n", fails(inotify_init1(1)));
	return rmdir(dir);
}
