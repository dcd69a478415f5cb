/* Sockets of AF_INET and AF_INET6 by the loopback addresses; it prints the same on Linux. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *fails(long result) { return result < 0 ? strerror(errno) : "no"; }
static int ready(int fd) { struct pollfd p = { fd, POLLIN | POLLOUT | POLLRDHUP, 0 }; poll(&p, 1, 0); return p.revents; }
static int within(int fd, int events) { struct pollfd p = { fd, events, 0 }; return poll(&p, 1, 600000); }

static volatile int hits;
static void onSignal(int sig) { hits++; }

union addr { struct sockaddr any; struct sockaddr_in four; struct sockaddr_in6 six; };

static socklen_t at(union addr *a, const char *ip, int port)
{
	memset(a, 0, sizeof *a);
	if (strchr(ip, ':')) {
		a->six.sin6_family = AF_INET6;
		a->six.sin6_port = htons(port);
		inet_pton(AF_INET6, ip, &a->six.sin6_addr);
		return sizeof a->six;
	}
	a->four.sin_family = AF_INET;
	a->four.sin_port = htons(port);
	inet_pton(AF_INET, ip, &a->four.sin_addr);
	return sizeof a->four;
}

static int option(int fd, int level, int name)
{
	int n = -1;
	socklen_t len = sizeof n;
	return getsockopt(fd, level, name, &n, &len) < 0 ? -errno : n;
}

/* bound returns a socket with a free port, and its address in a. */
static int bound(int kind, const char *ip, union addr *a)
{
	socklen_t len = at(a, ip, 0);
	int s = socket(a->any.sa_family, kind, 0);
	if (bind(s, &a->any, len))
		printf("bind: %s\n", strerror(errno));
	len = sizeof *a;
	getsockname(s, &a->any, &len);
	return s;
}

/* pair connects two sockets. */
static void pair(const char *ip, int *client, int *server)
{
	union addr a;
	int l = bound(SOCK_STREAM, ip, &a);
	listen(l, 5);
	*client = socket(a.any.sa_family, SOCK_STREAM, 0);
	if (connect(*client, &a.any, sizeof a))
		printf("connect: %s\n", strerror(errno));
	*server = accept(l, NULL, NULL);
	close(l);
}

static void names(const char *ip)
{
	union addr a, c, p;
	socklen_t len = sizeof c;
	int l = bound(SOCK_STREAM, ip, &a);
	printf("%s: listen %s", ip, fails(listen(l, 1)));
	printf(", accepts %d", option(l, SOL_SOCKET, SO_ACCEPTCONN));
	int s = socket(a.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	printf(", fresh %#x", ready(s));
	printf(", connect: %s", fails(connect(s, &a.any, sizeof a)));
	printf(", writable %d", within(s, POLLOUT));
	printf(", SO_ERROR %d", option(s, SOL_SOCKET, SO_ERROR));
	printf(", again: %s", fails(connect(s, &a.any, sizeof a)));
	printf(", and again: %s\n", fails(connect(s, &a.any, sizeof a)));
	int e = accept(l, &p.any, &len);
	printf("length %d", len);
	getsockname(s, &c.any, &len);
	printf(", client is who is accepted %d", !memcmp(&c, &p, len));
	getpeername(s, &c.any, &len);
	printf(", server %d\n", !memcmp(&c, &a, len));
	printf("domain %d type %d protocol %d\n", option(s, SOL_SOCKET, SO_DOMAIN) == a.any.sa_family, option(s, SOL_SOCKET, SO_TYPE), option(s, SOL_SOCKET, SO_PROTOCOL));
	close(l), close(s), close(e);
}

static void ends(void)
{
	int c, s;
	char b[10];
	struct linger l = { 1, 0 };
	pair("127.0.0.1", &c, &s);
	close(s);
	within(c, POLLIN);
	printf("closed %#x", ready(c));
	printf(", read %zd", read(c, b, 1));
	printf(", write %zd", write(c, "x", 1));
	within(c, 0); /* until it hangs up */
	printf(", then %#x", ready(c) & (POLLIN | POLLHUP));
	write(c, "x", 1);
	printf(", %s", fails(write(c, "x", 1)));
	printf(", signals %d\n", hits > 0);
	close(c);
	pair("127.0.0.1", &c, &s);
	write(c, "unread", 6);
	within(s, POLLIN);
	close(s);
	within(c, POLLIN);
	printf("unread: %s", fails(read(c, b, 1)));
	printf(", then %zd\n", read(c, b, 1));
	close(c);
	pair("127.0.0.1", &c, &s);
	setsockopt(s, SOL_SOCKET, SO_LINGER, &l, sizeof l);
	close(s);
	within(c, POLLIN);
	printf("linger: %s\n", fails(read(c, b, 1)));
	close(c);
	pair("::1", &c, &s);
	write(c, "last", 4);
	printf("shutdown: %s", fails(shutdown(c, SHUT_WR)));
	printf(", write: %s", fails(send(c, "x", 1, MSG_NOSIGNAL)));
	within(s, POLLIN);
	printf(", read %zd", recv(s, b, 9, MSG_WAITALL));
	printf(", then %zd", read(s, b, 9));
	printf(", back %zd", write(s, "ok", 2));
	within(c, POLLIN);
	printf(" %zd\n", read(c, b, 9));
	close(c), close(s);
}

static void refused(void)
{
	union addr a;
	char b;
	int l = bound(SOCK_STREAM, "127.0.0.1", &a), s = socket(AF_INET, SOCK_STREAM, 0);
	printf("nobody: %s\n", fails(connect(s, &a.any, sizeof a.four)));
	fcntl(s, F_SETFL, O_NONBLOCK);
	printf("begun: %s", fails(connect(s, &a.any, sizeof a.four)));
	within(s, POLLOUT);
	printf(", %#x", ready(s));
	printf(", SO_ERROR %d\n", option(s, SOL_SOCKET, SO_ERROR));
	close(s);
	s = socket(AF_INET, SOCK_STREAM, 0);
	printf("not connected: %s", fails(recv(s, &b, 1, 0)));
	printf(", %s", fails(send(s, &b, 1, MSG_NOSIGNAL)));
	printf(", %s", fails(shutdown(s, SHUT_WR)));
	printf(", %s\n", fails(getpeername(s, &a.any, &(socklen_t){ sizeof a })));
	printf("taken: %s", fails(bind(s, &a.any, sizeof a.four)));
	printf(", short: %s", fails(bind(s, &a.any, 8)));
	printf(", twice: %s\n", fails(bind(l, &a.any, sizeof a.four)));
	at(&a, "192.0.2.1", 80);
	printf("not ours: %s\n", fails(bind(s, &a.any, sizeof a.four)));
	at(&a, "::1", 80);
	printf("another family: %s\n", fails(connect(s, &a.any, sizeof a.six)));
	printf("protocol: %s", fails(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP)));
	printf(", kind: %s", fails(socket(AF_INET, SOCK_SEQPACKET, 0)));
	printf(", pair: %s\n", fails(socketpair(AF_INET, SOCK_STREAM, 0, (int[2]){ 0 })));
	close(s), close(l);
}

static void reuse(void)
{
	union addr a;
	int one = 1, l = bound(SOCK_STREAM, "127.0.0.1", &a), s = socket(AF_INET, SOCK_STREAM, 0), any = socket(AF_INET, SOCK_STREAM, 0);
	union addr wild;
	at(&wild, "0.0.0.0", ntohs(a.four.sin_port));
	printf("all: %s", fails(bind(any, &wild.any, sizeof wild.four)));
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	close(l);
	printf(", free: %s", fails(bind(s, &a.any, sizeof a.four)));
	setsockopt(any, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	printf(", shared: %s", fails(bind(any, &wild.any, sizeof wild.four)));
	printf(", one listens: %s", fails(listen(s, 1)));
	printf(", both: %s\n", fails(listen(any, 1)));
	close(s), close(any);
}

/* levels: which errors say that a socket has no options of a level. */
static void levels(int s)
{
	static const int all[] = { 500, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_IP, IPPROTO_IPV6, SOL_SOCKET };
	int n = 1;
	printf("levels:");
	for (int i = 0; i < 6; i++)
		printf(" %d %s", option(s, all[i], 999), fails(setsockopt(s, all[i], 999, &n, sizeof n)));
	printf(", errors: %s\n", fails(recv(s, &n, sizeof n, MSG_ERRQUEUE | MSG_DONTWAIT)));
}

static void options(void)
{
	int s = socket(AF_INET, SOCK_STREAM, 0), u = socket(AF_INET, SOCK_DGRAM, 0), n = 5;
	printf("nodelay %d", option(s, IPPROTO_TCP, TCP_NODELAY));
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &n, sizeof n);
	setsockopt(s, IPPROTO_TCP, TCP_KEEPIDLE, &n, sizeof n);
	setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &n, sizeof n);
	printf(" %d, keepidle %d", option(s, IPPROTO_TCP, TCP_NODELAY), option(s, IPPROTO_TCP, TCP_KEEPIDLE));
	printf(", keepalive %d", option(s, SOL_SOCKET, SO_KEEPALIVE));
	n = 0;
	printf(", none: %s", fails(setsockopt(s, IPPROTO_TCP, TCP_KEEPIDLE, &n, sizeof n)));
	printf(", short: %s", fails(setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &n, 2)));
	printf(", no such: %d", option(s, IPPROTO_TCP, 999));
	printf(", ttl %d\n", option(u, IPPROTO_IP, IP_TTL));
	levels(s), levels(u);
	close(s), close(u);
}

static void datagrams(void)
{
	union addr a, from;
	socklen_t len = sizeof from;
	char b[20];
	int l = bound(SOCK_DGRAM, "127.0.0.1", &a), s = socket(AF_INET, SOCK_DGRAM, 0);
	printf("nowhere: %s", fails(send(s, "x", 1, 0)));
	printf(", sent %zd", sendto(s, "hello", 5, 0, &a.any, sizeof a.four));
	within(l, POLLIN);
	printf(", got %zd", recvfrom(l, b, 20, 0, &from.any, &len));
	printf(", from %s", inet_ntoa(from.four.sin_addr));
	printf(", back %zd", sendto(l, "", 0, 0, &from.any, len));
	within(s, POLLIN);
	printf(" %zd\n", recv(s, b, 20, 0));
	printf("connect: %s", fails(connect(s, &a.any, sizeof a.four)));
	close(l);
	printf(", to nobody %zd", send(s, "x", 1, 0));
	within(s, POLLIN);
	printf(", then: %s", fails(send(s, "x", 1, 0)));
	static char big[70000];
	printf(", big: %s\n", fails(sendto(s, big, 65508, 0, &a.any, sizeof a.four)));
	close(s);
}

static void *later(void *fd) { usleep(20000); shutdown(*(int *)fd, SHUT_RDWR); return NULL; }

/* waits: a thread that waits is woken. */
static void waits(void)
{
	union addr a;
	pthread_t t;
	char b;
	int c, s, l = bound(SOCK_STREAM, "127.0.0.1", &a);
	listen(l, 1);
	pthread_create(&t, NULL, later, &l);
	printf("accept: %s", fails(accept(l, NULL, NULL)));
	pthread_join(t, NULL);
	pair("127.0.0.1", &c, &s);
	pthread_create(&t, NULL, later, &s);
	printf(", read %zd\n", read(c, &b, 1));
	pthread_join(t, NULL);
	close(l), close(c), close(s);
}

int main(void)
{
	struct sigaction act = { .sa_handler = onSignal };
	setvbuf(stdout, NULL, _IONBF, 0);
	sigaction(SIGPIPE, &act, NULL);
	names("127.0.0.1");
	names("127.1.2.3");
	names("::1");
	ends();
	refused();
	reuse();
	options();
	datagrams();
	waits();
	return 0;
}
