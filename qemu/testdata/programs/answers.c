/* Answers that foreign test suites found wrong; it prints the same on Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/random.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termio.h>
#include <unistd.h>

static const char *fails(long result) { return result < 0 ? strerror(errno) : "no"; }

/* lengths: those of addresses that are negative or too long. */
static void lengths(void)
{
	struct sockaddr_un a = { AF_UNIX, "x" };
	struct iovec v = { "hello", 1 };
	struct msghdr m = { &a, sizeof a, &v, 1 };
	socklen_t l = -1;
	char b[300];
	int s[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	send(s[0], "abcdef", 6, 0);
	printf("recvfrom: %s", fails(recvfrom(s[1], b, 1, 0, (void *)&a, &l)));
	printf(", length %d", l);
	printf(", null: %s\n", fails(recvfrom(s[1], b, 1, 0, (void *)&a, NULL)));
	v.iov_base = b;
	m.msg_namelen = -1;
	printf("recvmsg: %s", fails(recvmsg(s[1], &m, 0)));
	printf(", sendmsg: %s", fails(sendmsg(s[0], &m, 0)));
	m.msg_name = NULL;
	printf(", no name: %s", fails(recvmsg(s[1], &m, 0)));
	printf(" %d", m.msg_namelen);
	m.msg_namelen = -1;
	printf(" %s", fails(sendmsg(s[0], &m, 0)));
	m.msg_name = b;
	m.msg_namelen = sizeof b;
	printf(", long: %s", fails(recvmsg(s[1], &m, 0)));
	printf(" %d\n", m.msg_namelen);
	close(s[0]);
	close(s[1]);
}

/* reflinks: no file system here can clone, and pipes and folders never can. */
static void reflinks(void)
{
	int p[2], dir = open("/tmp", O_RDONLY), in, out, append;

	pipe(p);
	in = open("/tmp/answers.in", O_CREAT | O_RDWR, 0600);
	out = open("/tmp/answers.out", O_CREAT | O_RDWR, 0600);
	append = open("/tmp/answers.out", O_WRONLY | O_APPEND);
	printf("clone: %s", fails(ioctl(append, FICLONE, in)));
	printf(", of -1: %s", fails(ioctl(out, FICLONE, -1)));
	printf(", of a folder: %s", fails(ioctl(out, FICLONE, dir)));
	printf(", into one: %s", fails(ioctl(dir, FICLONE, in)));
	printf(", null range: %s\n", fails(ioctl(out, FICLONERANGE, NULL)));
	int bits, fd = open("/dev/urandom", O_RDONLY);
	printf("entropy: %s", fails(ioctl(fd, RNDGETENTCNT, &bits)));
	printf(", %d", bits);
	printf(", null: %s", fails(ioctl(fd, RNDGETENTCNT, NULL)));
	printf(", of a pipe: %s\n", fails(ioctl(p[0], RNDGETENTCNT, &bits)));
	unlink("/tmp/answers.in");
	unlink("/tmp/answers.out");
}

/* pages: remap_file_pages puts the pages of a file in another order. */
static void pages(void)
{
	enum { PAGE = 4096 };
	int fd = open("/tmp/answers.pages", O_CREAT | O_RDWR, 0600);

	for (int i = 0; i < 4; i++)
		pwrite(fd, &i, sizeof i, i * PAGE);
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	printf("remap: %s", fails(remap_file_pages(p, PAGE, 0, 3, 0)));
	printf(" %s", fails(remap_file_pages(p + PAGE, 2 * PAGE, 0, 0, 0)));
	printf(", pages");
	for (int i = 0; i < 4; i++)
		printf(" %d", *(int *)(p + i * PAGE));
	*(int *)p = 33;
	printf(", written %d", *(int *)(p + 3 * PAGE));
	printf(", prot: %s", fails(remap_file_pages(p, PAGE, 1, 0, 0)));
	munmap(p + 2 * PAGE, PAGE);
	printf(", gap: %s", fails(remap_file_pages(p, 4 * PAGE, 0, 0, 0)));
	printf(", private: %s\n", fails(remap_file_pages((void *)((long)&fd & -PAGE), PAGE, 0, 0, 0)));
	munmap(p, 4 * PAGE);
	close(fd);
	unlink("/tmp/answers.pages");
}

/* termio: the requests of System V change the lower halves of the flags only. */
static void termio(void)
{
	struct { unsigned i, o, c, l; unsigned char line, cc[19]; } all, before;
	struct termio half;
	int m = open("/dev/ptmx", O_RDWR | O_NOCTTY), unlock = 0, n = 0;
	char name[32];

	ioctl(m, TIOCSPTLCK, &unlock);
	ioctl(m, TIOCGPTN, &n);
	sprintf(name, "/dev/pts/%d", n);
	int s = open(name, O_RDWR | O_NOCTTY);
	ioctl(s, TCGETS, &before);
	before.l |= 0x10000; /* IEXTEN and above are in the upper half, too */
	ioctl(s, TCSETS, &before);
	printf("TCGETA %s", fails(ioctl(s, TCGETA, &half)));
	printf(": %#x %#x %#x %#x, %d %d %d", half.c_iflag, half.c_oflag, half.c_cflag, half.c_lflag, half.c_cc[0], half.c_cc[1], half.c_cc[7]);
	half.c_lflag &= ~8; /* ECHO */
	half.c_iflag ^= 0x400;
	half.c_cc[1] = 7;
	printf(", TCSETA %s", fails(ioctl(s, TCSETA, &half)));
	ioctl(s, TCGETS, &all);
	printf(": %#x %#x %#x %d %d", all.i ^ before.i, all.l ^ before.l, all.c ^ before.c, all.cc[1], all.cc[8] == before.cc[8]);
	printf(", TCSETAW %s", fails(ioctl(s, TCSETAW, &half)));
	printf(", TCSETAF %s", fails(ioctl(s, TCSETAF, &half)));
	printf(", null: %s", fails(ioctl(s, TCGETA, NULL)));
	printf(" %s", fails(ioctl(s, TCSETA, NULL)));
	printf(", locked %s", fails(ioctl(s, TIOCGLCKTRMIOS, &all)));
	printf(" %#x", all.i | all.o | all.c | all.l);
	printf(", of a folder: %s\n", fails(ioctl(open("/", O_RDONLY), TCGETA, &half)));
	close(s);
	close(m);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	lengths();
	reflinks();
	pages();
	termio();
	return 0;
}
