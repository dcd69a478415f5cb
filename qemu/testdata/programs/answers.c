/* Answers that foreign test suites found wrong; it prints the same on Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	lengths();
	return 0;
}
