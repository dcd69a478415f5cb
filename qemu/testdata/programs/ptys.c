/* Pseudo-terminals; it prints the same on Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static const char *fails(long result) { return result < 0 ? strerror(errno) : "no"; }
static int ready(int fd) { struct pollfd p = { fd, POLLIN | POLLOUT, 0 }; poll(&p, 1, 0); return p.revents; }

/* show prints what comes next from a terminal: n bytes, or up to the end. */
static void show(const char *what, int fd, size_t n)
{
	char b[4096], *p = b;
	ssize_t r = 0;
	while ((size_t)(p - b) < n && (r = read(fd, p, n - (p - b))) > 0)
		p += r;
	int e = errno;
	printf("%s: ", what);
	for (char *c = b; c < p; c++)
		if (*c < ' ')
			printf("\\%o", *c);
		else
			putchar(*c);
	printf(" %s\n", (size_t)(p - b) == n ? "" : r < 0 ? strerror(e) : "end");
}

static volatile sig_atomic_t got[65];
static void onSignal(int sig) { got[sig]++; }

/* names: how a pair is made. */
static void names(void)
{
	struct stat st;
	int m = posix_openpt(O_RDWR | O_NOCTTY), n = -1;
	printf("open %d, ", m >= 0);
	ioctl(m, TIOCGPTN, &n);
	printf("number %d, ", n >= 0);
	printf("locked: %s\n", fails(open(ptsname(m), O_RDWR | O_NOCTTY)));
	printf("grantpt %d, ", grantpt(m));
	printf("unlockpt %d, ", unlockpt(m));
	char want[40];
	sprintf(want, "/dev/pts/%d", n);
	printf("name %d\n", strcmp(ptsname(m), want) == 0);
	printf("ready %#x\n", ready(m));
	int s = open(ptsname(m), O_RDWR | O_NOCTTY);
	fstat(s, &st);
	printf("slave mode %o, %d:%d\n", st.st_mode & ~S_IRWXO & ~S_IRWXG, major(st.st_rdev), minor(st.st_rdev) == (unsigned)n);
	printf("ttyname %s, ", strcmp(ttyname(s), want) ? "another" : "it");
	printf("isatty %d %d\n", isatty(m), isatty(s));
	stat("/dev/ptmx", &st);
	printf("ptmx %o %d:%d\n", st.st_mode, major(st.st_rdev), minor(st.st_rdev));
	struct winsize w = { 1, 2, 3, 4 };
	printf("size %d, ", ioctl(s, TIOCGWINSZ, &w));
	printf("%d %d %d %d\n", w.ws_row, w.ws_col, w.ws_xpixel, w.ws_ypixel);
	struct termios t;
	tcgetattr(m, &t);
	printf("modes %x %x %x %x\n", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag);
	printf("group: %s, ", fails(tcgetpgrp(s)));
	printf("session: %s\n", fails(tcgetsid(s)));
	int p = ioctl(m, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	printf("peer %d, cloexec %d\n", p >= 0, fcntl(p, F_GETFD));
	close(p);
	close(m);
	printf("gone: %s\n", fails(open(want, O_RDWR | O_NOCTTY)));
	char c;
	printf("hung up: read %zd, ", read(s, &c, 1));
	printf("write: %s, ", fails(write(s, "x", 1)));
	printf("ioctl: %s\n", fails(tcgetattr(s, &t)));
	close(s);
}

/* lines: what is typed, shown and read. */
static void lines(void)
{
	int m, s, n;
	struct termios t;
	openpty(&m, &s, NULL, NULL, NULL);
	write(m, "one\rtw\177wo\r", 10);
	show("echo", m, 14);
	show("line", s, 4);
	for (n = 0; n == 0; usleep(1000)) /* the echo may come before the line */
		ioctl(s, FIONREAD, &n);
	printf("left %d\n", n);
	show("line", s, 4);
	write(s, "a\tb\n", 4);
	show("output", m, 5);
	write(m, "\4", 1);
	char c;
	printf("end %zd\n", read(s, &c, 1));
	write(m, "x\r", 2);
	show("echo", m, 3);
	while (!(ready(s) & POLLIN))
		usleep(1000);
	printf("flush %d, ", tcflush(s, TCIFLUSH));
	printf("ready %#x, bad: %s\n", ready(s), fails(tcflush(s, 9)));
	tcgetattr(s, &t);
	cfmakeraw(&t);
	tcsetattr(s, TCSANOW, &t);
	write(m, "raw\r\3", 5);
	show("raw", s, 5);
	write(s, "o\n", 2);
	show("raw", m, 2);
	printf("break %d, drain %d\n", tcsendbreak(s, 0), tcdrain(s));
	fcntl(m, F_SETFL, O_NONBLOCK);
	printf("nothing: %s\n", fails(read(m, &c, 1)));
	write(s, "last", 4);
	close(s);
	printf("ready %#x\n", ready(m) & ~POLLOUT);
	show("rest", m, 5);
	close(m);
}

/* much: neither end loses anything if the other one is slow. */
static void much(void)
{
	int m, s;
	struct termios t;
	static char b[5000];
	openpty(&m, &s, NULL, NULL, NULL);
	tcgetattr(s, &t);
	cfmakeraw(&t);
	tcsetattr(s, TCSANOW, &t);
	if (!fork()) {
		close(m);
		for (int i = 0; i < 60; i++) {
			memset(b, 'a' + i % 26, sizeof b);
			for (unsigned k = 0, r; k < sizeof b; k += r)
				r = write(s, b + k, sizeof b - k);
		}
		long sum = 0, n = 0;
		for (ssize_t r; n < 300000 && (r = read(s, b, sizeof b)) > 0; n += r)
			for (ssize_t k = 0; k < r; k++)
				sum = sum * 31 + b[k];
		printf("typed %ld %lx\n", n, sum);
			_exit(0);
	}
	long sum = 0, n = 0;
	usleep(50000);
	for (ssize_t r; n < 300000 && (r = read(m, b, sizeof b)) > 0; n += r)
		for (ssize_t k = 0; k < r; k++)
			sum = sum * 31 + b[k];
	printf("shown %ld %lx\n", n, sum);
	for (int i = 0; i < 60; i++) {
		memset(b, 'a' + i % 26, sizeof b);
		for (unsigned k = 0, r; k < sizeof b; k += r)
			r = write(m, b + k, sizeof b - k);
	}
	wait(NULL);
	close(m), close(s);
}

/* session: a shell's life on a terminal. */
static void session(void)
{
	int m, status, echoed[2];
	char c = 0;
	struct winsize w = { 24, 80, 0, 0 };
	pipe(echoed);
	pid_t pid = forkpty(&m, NULL, NULL, &w);
	if (!pid) {
		for (int i = 1; i < 65; i++)
			signal(i, i == SIGCHLD || i == SIGALRM ? SIG_DFL : onSignal);
		int t = open("/dev/tty", O_RDWR);
		dprintf(1, "tty %d, group %d, session %d\n", t >= 0, tcgetpgrp(t) == getpid(), tcgetsid(0) == getpid());
		while (!got[SIGWINCH])
			usleep(1000);
		ioctl(0, TIOCGWINSZ, &w);
		dprintf(1, "size %d %d\n", w.ws_row, w.ws_col);
		while (!got[SIGINT])
			usleep(1000);
		while (read(echoed[0], &c, 1) != 1) /* the signal may come before the echo */
			;
		dprintf(1, "interrupted\n");
		setpgid(0, 0);
		pid_t job = fork();
		if (!job) {
			setpgid(0, 0);
			signal(SIGTTIN, SIG_DFL);
			read(0, &c, 1);
			_exit(1);
		}
		waitpid(job, &status, WUNTRACED);
		dprintf(1, "background %d\n", WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN);
		kill(job, SIGKILL);
		waitpid(job, &status, 0);
		while (!got[SIGHUP])
			usleep(1000);
		_exit(got[SIGCONT] && read(0, &c, 1) == 0 && open("/dev/tty", O_RDWR) < 0 && errno == ENXIO ? 7 : 8);
	}
	show("begin", m, 27);
	w.ws_row = 30;
	ioctl(m, TIOCSWINSZ, &w);
	show("winch", m, 12);
	write(m, "\3", 1);
	show("echo", m, 2);
	write(echoed[1], &c, 1);
	show("int", m, 13);
	show("job", m, 14);
	printf("group %d, session %d\n", tcgetpgrp(m) == pid, tcgetsid(m) == pid);
	close(m);
	waitpid(pid, &status, 0);
	printf("status %d\n", WEXITSTATUS(status));
	close(echoed[0]), close(echoed[1]);
}

/* ends: a child that ends leaves its output, and then there is nothing. */
static void ends(void)
{
	int m, status;
	if (!forkpty(&m, NULL, NULL, NULL)) {
		printf("bye\n");
		exit(3);
	}
	show("child", m, 100);
	wait(&status);
	printf("status %d, ready %#x\n", WEXITSTATUS(status), ready(m) & ~POLLOUT);
	close(m);
	int s;
	openpty(&m, &s, NULL, NULL, NULL);
	if (!fork()) {
		setsid();
		printf("take %d, ", ioctl(s, TIOCSCTTY, 0));
		printf("of no session: %s\n", fails(tcsetpgrp(s, getppid())));
			_exit(0);
	}
	wait(NULL);
	close(m), close(s);
	signal(SIGHUP, SIG_DFL);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	names();
	lines();
	much();
	session();
	ends();
	return 0;
}
