/* Sockets of AF_UNIX; it prints the same on Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *fails(long result) { return result < 0 ? strerror(errno) : "no"; }
static int ready(int fd) { struct pollfd p = { fd, POLLIN | POLLOUT | POLLRDHUP, 0 }; poll(&p, 1, 0); return p.revents; }

static volatile int hits;
static void onSignal(int sig) { hits++; }

static socklen_t name(struct sockaddr_un *a, const char *path)
{
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	strcpy(a->sun_path, path);
	if (path[0] != '@')
		return sizeof *a;
	a->sun_path[0] = 0;
	return offsetof(struct sockaddr_un, sun_path) + strlen(path);
}

/* stream: what two ends see of each other. */
static void stream(void)
{
	int s[2], n;
	char b[100] = "";
	struct stat st;
	printf("socketpair %d\n", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s));
	printf("cloexec %d", fcntl(s[0], F_GETFD));
	printf(" nonblock %d\n", !!(fcntl(s[1], F_GETFL) & O_NONBLOCK));
	fstat(s[0], &st);
	printf("mode %o\n", st.st_mode);
	printf("ready %#x\n", ready(s[0]));
	printf("write %zd", write(s[0], "hello ", 6));
	printf(" %zd\n", send(s[0], "world", 5, 0));
	ioctl(s[1], FIONREAD, &n);
	printf("FIONREAD %d", n);
	printf(", ready %#x\n", ready(s[1]));
	printf("peek %zd", recv(s[1], b, 5, MSG_PEEK));
	printf(" %s\n", b);
	printf("read %zd", read(s[1], b, 99));
	printf(" %s\n", b);
	printf("empty: %s\n", fails(recv(s[1], b, 1, MSG_DONTWAIT)));
	printf("oob: %s", fails(recv(s[1], b, 1, MSG_OOB | MSG_DONTWAIT)));
	printf(", seek: %s\n", fails(lseek(s[0], 0, SEEK_CUR)));
	printf("to an address: %s\n", fails(sendto(s[0], "x", 1, 0, (struct sockaddr *)"\1\0x", 4)));
	printf("pread: %s\n", fails(pread(s[0], b, 1, 0)));
	write(s[0], "last", 4);
	printf("shutdown %d\n", shutdown(s[0], SHUT_WR));
	printf("ready %#x", ready(s[0]));
	printf(" and %#x\n", ready(s[1]));
	signal(SIGPIPE, onSignal);
	hits = 0;
	printf("write: %s", fails(write(s[0], "x", 1)));
	printf(", signals %d", hits);
	printf(", nosignal: %s", fails(send(s[0], "x", 1, MSG_NOSIGNAL)));
	printf(", signals %d\n", hits);
	printf("read %zd", read(s[1], b, 99));
	printf(", then %zd\n", read(s[1], b, 99));
	printf("shutdown: %s\n", fails(shutdown(s[1], 3)));
	write(s[1], "unread", 6);
	close(s[0]);
	printf("ready %#x", ready(s[1]));
	printf(", reading: %s", fails(read(s[1], b, 1)));
	printf(", then %zd", read(s[1], b, 1));
	printf(", writing: %s\n", fails(write(s[1], "x", 1)));
	close(s[1]);
}

/* waitall: a receiver that wants all of what comes in parts. */
static void waitall(void)
{
	int s[2];
	char b[100] = "";
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	if (!fork()) {
		for (int i = 0; i < 10; i++) {
			usleep(1000);
			write(s[1], "0123456789" + i, 1);
		}
		_exit(0);
	}
	printf("recv %zd", recv(s[0], b, 10, MSG_WAITALL));
	printf(" %s\n", b);
	wait(NULL);
	struct timeval tv = { 0, 20000 }, got = { 0 };
	socklen_t len = sizeof got;
	setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	getsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &got, &len);
	printf("limit %ld", (long)got.tv_usec);
	printf(" %d", len);
	printf(": %s\n", fails(recv(s[0], b, 1, 0)));
	close(s[0]);
	close(s[1]);
}

/* full: a writer that nobody reads waits, and goes on. */
static void full(void)
{
	int s[2];
	static char b[100000], c[100000];
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s);
	long n = 0, r, sum = 0;
	while ((r = write(s[0], b, sizeof b)) > 0)
		n += r;
	printf("full: %s", fails(r));
	printf(", much %d", n >= 100000);
	printf(", ready %#x\n", ready(s[0]));
	while ((r = read(s[1], b, sizeof b)) > 0)
		n -= r;
	printf("left %ld", n);
	printf(", ready %#x\n", ready(s[0]));
	fcntl(s[0], F_SETFL, 0);
	fcntl(s[1], F_SETFL, 0);
	if (!fork()) {
		for (int i = 0; i < 20; i++) {
			for (unsigned k = 0; k < sizeof c; k++)
				c[k] = i + k;
			write(s[0], c, sizeof c);
		}
		_exit(0);
	}
	close(s[0]);
	int wrong = 0;
	while ((r = read(s[1], b, sizeof b)) > 0)
		for (long k = 0; k < r; k++, sum++)
			wrong += b[k] != (char)(sum / (long)sizeof c + sum % (long)sizeof c);
	printf("sum %ld, wrong %d\n", sum, wrong);
	wait(NULL);
	close(s[1]);
}

/* server: names, in the tree and outside of it. */
static void server(const char *path)
{
	struct sockaddr_un a, got;
	struct ucred cred;
	struct stat st;
	socklen_t len = name(&a, path), l = sizeof got;
	char b[10] = "";
	int s = socket(AF_UNIX, SOCK_STREAM, 0), v = 0;
	unlink(path);
	printf("ready %#x", ready(s));
	printf(", listen: %s", fails(listen(s, 5)));
	printf(", accept: %s", fails(accept(s, NULL, NULL)));
	printf(", read: %s\n", fails(read(s, b, 1)));
	printf("write: %s", fails(send(s, "x", 1, MSG_NOSIGNAL)));
	printf(", peer: %s\n", fails(getpeername(s, (struct sockaddr *)&got, &l)));
	getsockname(s, (struct sockaddr *)&got, &l);
	printf("no name: %d\n", l);
	printf("bind %d", bind(s, (struct sockaddr *)&a, len));
	printf(", again: %s\n", fails(bind(s, (struct sockaddr *)&a, len)));
	if (path[0] == '/') {
		stat(path, &st);
		printf("mode %o", st.st_mode);
		printf(", open: %s\n", fails(open(path, O_RDWR)));
	}
	int o = socket(AF_UNIX, SOCK_STREAM, 0);
	printf("taken: %s\n", fails(bind(o, (struct sockaddr *)&a, len)));
	printf("not listening: %s\n", fails(connect(o, (struct sockaddr *)&a, len)));
	printf("listen %d", listen(s, 1));
	printf(", ready %#x\n", ready(s));
	int d = socket(AF_UNIX, SOCK_DGRAM, 0);
	printf("another kind: %s\n", fails(connect(d, (struct sockaddr *)&a, len)));
	close(d);
	printf("connect %d", connect(o, (struct sockaddr *)&a, len));
	printf(", again: %s\n", fails(connect(o, (struct sockaddr *)&a, len)));
	printf("ready %#x", ready(s));
	printf(", client %#x\n", ready(o));
	int c1 = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), c2 = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	printf("second %d", connect(c1, (struct sockaddr *)&a, len));
	printf(", third: %s\n", fails(connect(c2, (struct sockaddr *)&a, len)));
	write(o, "early", 5);
	l = sizeof got;
	int c = accept4(s, (struct sockaddr *)&got, &l, SOCK_CLOEXEC);
	printf("accepted %d", c > 0);
	printf(", name %d", l);
	printf(", cloexec %d\n", fcntl(c, F_GETFD));
	l = sizeof got;
	memset(&got, 0, sizeof got);
	getpeername(o, (struct sockaddr *)&got, &l);
	printf("peer %d %d %s\n", l, got.sun_family, got.sun_path + (path[0] == '@'));
	l = 5;
	memset(&got, 0, sizeof got);
	getsockname(c, (struct sockaddr *)&got, &l);
	printf("cut: %d %d\n", l, got.sun_path[2]);
	l = sizeof cred;
	getsockopt(c, SOL_SOCKET, SO_PEERCRED, &cred, &l);
	printf("cred %d %d %d %d\n", cred.pid == getpid(), cred.uid == getuid(), cred.gid == getgid(), l);
	l = sizeof v;
	getsockopt(s, SOL_SOCKET, SO_ACCEPTCONN, &v, &l);
	printf("accepts %d\n", v);
	printf("read %zd", read(c, b, 9));
	printf(" %s\n", b);
	printf("as a client: %s\n", fails(connect(s, (struct sockaddr *)&a, len)));
	close(s);
	printf("after close: %s", fails(connect(c2, (struct sockaddr *)&a, len)));
	printf(", waiting client: %s", fails(read(c1, b, 1)));
	printf(", then %zd\n", read(c1, b, 1));
	if (path[0] == '/')
		{ printf("unlink %d", unlink(path)); printf(", then: %s\n", fails(connect(c2, (struct sockaddr *)&a, len))); }
	close(o), close(c), close(c1), close(c2);
}

/* autobind: the kernel chooses a name. */
static void autobind(void)
{
	struct sockaddr_un a = { AF_UNIX }, got;
	socklen_t l = sizeof got;
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	printf("bind %d", bind(s, (struct sockaddr *)&a, 2));
	getsockname(s, (struct sockaddr *)&got, &l);
	printf(", name %d %d\n", l, got.sun_path[0]);
	close(s);
}

/* datagrams: whole messages, and from whom. */
static void datagrams(void)
{
	int s[2], n;
	char b[10] = "";
	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	write(s[0], "first message", 13);
	write(s[0], "", 0);
	write(s[0], "third", 5);
	ioctl(s[1], FIONREAD, &n);
	printf("FIONREAD %d", n);
	printf(", trunc %zd", recv(s[1], b, 5, MSG_TRUNC | MSG_PEEK));
	struct iovec iov = { b, 5 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	printf(", recvmsg %zd", recvmsg(s[1], &m, 0));
	printf(" flags %#x\n", m.msg_flags);
	printf("empty %zd", read(s[1], b, 9));
	printf(", third %zd\n", read(s[1], b, 9));
	for (n = 0; send(s[0], "x", 1, MSG_DONTWAIT) == 1; n++)
		;
	printf("full: %s", fails(-1));
	printf(", ready %#x\n", ready(s[0]));
	read(s[1], b, 1);
	printf("send %zd\n", send(s[0], "x", 1, MSG_DONTWAIT));
	close(s[1]);
	hits = 0;
	printf("gone: %s", fails(write(s[0], "x", 1)));
	printf(", signals %d", hits);
	printf(", ready %#x\n", ready(s[0]));
	close(s[0]);

	struct sockaddr_un a, from;
	socklen_t len = name(&a, "@sockets.datagram"), l = sizeof from;
	int r = socket(AF_UNIX, SOCK_DGRAM, 0), w = socket(AF_UNIX, SOCK_DGRAM, 0);
	printf("nobody: %s, ", fails(sendto(w, "x", 1, 0, (struct sockaddr *)&a, len)));
	printf("nowhere: %s\n", fails(write(w, "x", 1)));
	bind(r, (struct sockaddr *)&a, len);
	printf("sendto %zd", sendto(w, "abc", 3, 0, (struct sockaddr *)&a, len));
	printf(", from nobody %zd", recvfrom(r, b, 9, 0, (struct sockaddr *)&from, &l));
	printf(" %d", l);
	struct sockaddr_un mine;
	bind(w, (struct sockaddr *)&mine, name(&mine, "@sockets.sender"));
	printf(", connect %d", connect(w, (struct sockaddr *)&a, len));
	printf(", write %zd", write(w, "defg", 4));
	l = sizeof from;
	printf(", from %zd", recvfrom(r, b, 9, 0, (struct sockaddr *)&from, &l));
	printf(" %d %.15s\n", l, from.sun_path + 1);
	printf("listen: %s", fails(listen(r, 1)));
	printf(", accept: %s\n", fails(accept(r, NULL, NULL)));
	struct sockaddr none = { AF_UNSPEC };
	printf("disconnect %d", connect(w, &none, sizeof none));
	printf(", write: %s\n", fails(write(w, "x", 1)));
	static char big[300000];
	printf("too long: %s\n", fails(sendto(w, big, sizeof big, 0, (struct sockaddr *)&a, len)));
	printf("long %zd", sendto(w, big, 100000, 0, (struct sockaddr *)&a, len));
	printf(" %zd\n", read(r, big, sizeof big));
	close(r), close(w);
}

/* packets: a connection of messages. */
static void packets(void)
{
	int s[2];
	char b[20] = "", c[20] = "";
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s);
	struct iovec out[2] = { { "abc", 3 }, { "defgh", 5 } }, in[2] = { { b, 4 }, { c, 19 } };
	printf("writev %zd", writev(s[0], out, 2));
	write(s[0], "second", 6);
	printf(", readv %zd", readv(s[1], in, 2));
	printf(" %s %s\n", b, c);
	struct msghdr m = { .msg_iov = in, .msg_iovlen = 1 };
	printf("cut %zd", recvmsg(s[1], &m, 0));
	printf(" %#x\n", m.msg_flags);
	close(s[0]);
	hits = 0;
	printf("end %zd", read(s[1], b, 9));
	printf(", ready %#x", ready(s[1]));
	printf(", write: %s", fails(write(s[1], "x", 1)));
	printf(", signals %d\n", hits);
	close(s[1]);
}

static ssize_t pass(int s, const char *text, const int *fds, int n)
{
	union { char b[CMSG_SPACE(sizeof(int) * 16)]; struct cmsghdr h; } u = { { 0 } };
	struct iovec iov = { (void *)text, strlen(text) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.b, .msg_controllen = CMSG_SPACE(sizeof(int) * n) };
	u.h.cmsg_level = SOL_SOCKET;
	u.h.cmsg_type = SCM_RIGHTS;
	u.h.cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(&u.h), fds, sizeof(int) * n);
	return sendmsg(s, &m, 0);
}

static int take(int s, int room, int flags, int *fds)
{
	union { char b[CMSG_SPACE(sizeof(int) * 16) + 100]; struct cmsghdr h; } u = { { 0 } };
	char b[50] = "";
	struct iovec iov = { b, 49 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.b, .msg_controllen = room };
	ssize_t r = recvmsg(s, &m, flags);
	int n = 0;
	printf("recvmsg %zd %s, flags %#x, control %zu:", r, b, m.msg_flags, m.msg_controllen);
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		printf(" %d/%d/%zu", h->cmsg_level, h->cmsg_type, (size_t)h->cmsg_len);
		if (h->cmsg_type == SCM_RIGHTS) {
			n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(fds, CMSG_DATA(h), n * sizeof(int));
		} else {
			struct ucred *c = (struct ucred *)CMSG_DATA(h);
			printf(" cred %d %d %d", c->pid == getpid(), c->uid == getuid(), c->gid == getgid());
		}
	}
	printf("\n");
	return n;
}

/* rights: descriptors beside bytes. */
static void rights(void)
{
	int s[2], p[2], got[16], n;
	char b[10] = "";
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pipe(p);
	write(s[0], "a", 1);
	printf("pass %zd\n", pass(s[0], "bc", p, 2));
	write(s[0], "d", 1);
	close(p[0]);
	write(p[1], "pipe", 4);
	close(p[1]);
	n = take(s[1], 100, MSG_CMSG_CLOEXEC, got);
	printf("got %d", n);
	printf(", cloexec %d", fcntl(got[0], F_GETFD));
	printf(", read %zd", read(got[0], b, 9));
	printf(" %s\n", b);
	close(got[0]), close(got[1]);
	printf("rest %zd", read(s[1], b, 1));
	printf(" %s\n", b);
	printf("bad: ");
	printf("%s\n", fails(pass(s[0], "x", (int[]){ 0, 99 }, 2)));
	pipe(p);
	pass(s[0], "cut", p, 2);
	n = take(s[1], CMSG_LEN(sizeof(int)), 0, got);
	printf("got %d\n", n);
	close(got[0]);
	pass(s[0], "none", p, 2);
	take(s[1], 0, 0, got);
	close(p[0]), close(p[1]);
	pipe(p);
	pass(s[0], "lost", &p[1], 1);
	close(p[1]);
	printf("read %zd", read(s[1], b, 9));
	printf(", the pipe's end %zd\n", read(p[0], b, 1));
	close(p[0]);
	int on = 1;
	setsockopt(s[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	pass(s[0], "cred", s, 2);
	n = take(s[1], 150, 0, got);
	printf("itself %d\n", n);
	close(got[0]), close(got[1]);
	close(s[0]), close(s[1]);
}

/* gone waits until nobody has the other end of a pipe. Linux looks for cycles when a socket is closed, and later. */
static int gone(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	for (int i = 0; i < 200000; i++) {
		int s[2];
		if (poll(&p, 1, 1) == 1)
			return 1;
		socketpair(AF_UNIX, SOCK_STREAM, 0, s);
		close(s[0]), close(s[1]);
	}
	return 0;
}

/* cycles: sockets that only their own messages hold. */
static void cycles(void)
{
	int ok = 0;
	for (int i = 0; i < 200; i++) {
		int s[2], p[2];
		socketpair(AF_UNIX, SOCK_STREAM, 0, s);
		pipe(p);
		pass(s[0], "x", (int[]){ s[0], s[1], p[1] }, 3);
		pass(s[1], "x", (int[]){ s[0], s[1], p[1] }, 3);
		close(s[0]), close(s[1]), close(p[1]);
		if (i % 50 == 0)
			ok += gone(p[0]);
		close(p[0]);
	}
	printf("cycles gone %d\n", ok);
	int s[2], last;
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	last = s[0];
	close(s[1]);
	for (int i = 0; i < 2000; i++) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, s);
		if (pass(s[0], "x", &last, 1) < 0)
			break;
		close(last), close(s[0]);
		last = s[1];
	}
	close(last);
	printf("chain done\n");
}

/* options: what getsockopt and setsockopt say. */
static void options(void)
{
	int s[2], v, on = 7;
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	int all[] = { SO_DEBUG, SO_REUSEADDR, SO_TYPE, SO_ERROR, SO_BROADCAST, SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE, SO_PRIORITY, SO_LINGER, SO_PASSCRED, SO_RCVLOWAT, SO_SNDLOWAT, SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN, 999 };
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		socklen_t l = sizeof v;
		v = -1;
		int r = getsockopt(s[0], SOL_SOCKET, all[i], &v, &l);
		printf("option %d", all[i]);
		printf(": %s", fails(r));
		printf(" %d", v);
		printf(" %d", l);
		if (all[i] == SO_PRIORITY || all[i] == SO_DEBUG) {
			printf("\n");
			continue;
		}
		printf(", set: %s", fails(setsockopt(s[0], SOL_SOCKET, all[i], &on, sizeof on)));
		l = sizeof v;
		getsockopt(s[0], SOL_SOCKET, all[i], &v, &l);
		printf(" %d\n", v);
	}
	printf("short: %s", fails(setsockopt(s[0], SOL_SOCKET, SO_KEEPALIVE, &on, 3)));
	printf(", level: %s", fails(setsockopt(s[0], 6, 1, &on, 4)));
	printf(", %s\n", fails(setsockopt(0, SOL_SOCKET, SO_KEEPALIVE, &on, 4)));
	close(s[0]), close(s[1]);
}

/* refused: what is no socket, and what there is not. */
static void refused(void)
{
	int s[2] = { -1, -1 }, p[2], u = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un a;
	socklen_t len = name(&a, "/tmp/sockets.absent");
	pipe(p);
	printf("type: %s", fails(socket(AF_UNIX, 11, 0)));
	printf(", family: %s", fails(socket(99, SOCK_STREAM, 0)));
	printf(", protocol: %s", fails(socket(AF_UNIX, SOCK_STREAM, 6)));
	printf(", flags: %s\n", fails(socket(AF_UNIX, SOCK_STREAM | 0x1000, 0)));
	printf("kind: %s", fails(socket(AF_UNIX, SOCK_RDM, 0)));
	printf(", pair: %s\n", fails(socketpair(AF_UNIX, SOCK_STREAM, 0, (int *)8)));
	printf("no socket: %s", fails(listen(p[0], 1)));
	printf(", %s", fails(send(p[1], "x", 1, 0)));
	printf(", %s\n", fails(accept(99, NULL, NULL)));
	printf("nobody: %s", fails(connect(u, (struct sockaddr *)&a, len)));
	printf(", no socket: %s\n", fails(connect(u, (struct sockaddr *)&a, name(&a, "/tmp") )));
	printf("length: %s", fails(bind(u, (struct sockaddr *)&a, 1)));
	printf(", %s", fails(bind(u, (struct sockaddr *)&a, 120)));
	printf(", %s", fails(bind(u, (struct sockaddr *)&a, -1)));
	printf(", %s\n", fails(connect(u, (struct sockaddr *)&a, 2)));
	a.sun_family = AF_INET;
	printf("another family: %s", fails(bind(u, (struct sockaddr *)&a, len)));
	printf(", address: %s\n", fails(bind(u, (struct sockaddr *)8, len)));
	printf("directory: %s\n", fails(bind(u, (struct sockaddr *)&a, name(&a, "/tmp/no/such"))));
	printf("flags: %s\n", fails(accept4(u, NULL, NULL, 5)));
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	printf("from nowhere: %s\n", fails(write(s[0], (void *)8, 5)));
	write(s[0], "keep", 4);
	char b[5] = "";
	printf("to nowhere: %s", fails(recv(s[1], (void *)8, 4, 0)));
	printf(", then %zd", recv(s[1], b, 4, 0));
	printf(" %s\n", b);
	close(s[0]), close(s[1]), close(u), close(p[0]), close(p[1]);
}

static void *closeLater(void *fd) { usleep(20000); shutdown(*(int *)fd, SHUT_RDWR); return NULL; }

/* waits: those who wait are woken. */
static void waits(void)
{
	int s[2], e = epoll_create1(0);
	char b;
	pthread_t t;
	struct epoll_event ev = { EPOLLIN | EPOLLRDHUP | EPOLLET, { .fd = 7 } }, got;
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	epoll_ctl(e, EPOLL_CTL_ADD, s[0], &ev);
	printf("nothing %d\n", epoll_wait(e, &got, 1, 0));
	pthread_create(&t, NULL, closeLater, &s[1]);
	printf("read %zd", read(s[0], &b, 1));
	pthread_join(t, NULL);
	printf(", events %d", epoll_wait(e, &got, 1, 1000));
	printf(" %#x\n", got.events);
	close(s[0]), close(s[1]), close(e);

	struct sockaddr_un a;
	socklen_t len = name(&a, "@sockets.wait");
	int l = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(l, (struct sockaddr *)&a, len);
	listen(l, 0);
	pthread_create(&t, NULL, closeLater, &l);
	printf("accept: %s\n", fails(accept(l, NULL, NULL)));
	pthread_join(t, NULL);
	close(l);
	struct sigaction act = { .sa_handler = onSignal };
	sigaction(SIGALRM, &act, NULL);
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	ualarm(20000, 20000); /* again and again: the first may come before recv waits */
	const char *why = fails(recv(s[0], &b, 1, 0));
	ualarm(0, 0);
	printf("signal: %s\n", why);
	close(s[0]), close(s[1]);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	stream();
	waitall();
	full();
	server("/tmp/sockets.path");
	server("@sockets.abstract");
	autobind();
	datagrams();
	packets();
	rights();
	cycles();
	options();
	refused();
	waits();
	return 0;
}
