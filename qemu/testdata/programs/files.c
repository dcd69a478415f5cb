/* Files: mappings, positions, directories, pipes, descriptors over fork and exec. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY(what) printf(#what ": %ld %s\n", (long)(what), errno ? strerror(errno) : ""), errno = 0

static void mappings(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	char *shared, *private;

	for (int i = 0; i < 3000; i++)
		dprintf(fd, "%07d\n", i);
	shared = mmap(NULL, 24000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	private = mmap(NULL, 24000, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	memcpy(private + 8, "private", 7);
	memcpy(shared + 16, "shared.", 7);
	char b[25] = "";
	pread(fd, b, 24, 0);
	printf("%.24s%.24s", b, private);
	int pid = fork();
	if (pid == 0) {
		memcpy(shared, "child s", 7);
		memcpy(private, "child p", 7);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("%.8s%.8s", shared, private);
	SAY(ftruncate(fd, 5000));
	SAY(lseek(fd, 0, SEEK_END));
	SAY(munmap(shared, 24000));
	SAY(munmap(private, 24000));
	close(fd);
	SAY(unlink(name));
	SAY(open(name, O_RDONLY));
}

static int by_name(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

static void directories(void)
{
	char *names[10];
	int n = 0;

	SAY(mkdir("d", 0755));
	SAY(mkdir("d", 0755));
	SAY(chdir("d"));
	close(open("one", O_CREAT | O_WRONLY, 0600));
	SAY(symlink("one", "two"));
	SAY(rename("one", "three"));
	SAY(access("two", F_OK));
	SAY(link("three", "one"));
	SAY(access("two", F_OK));
	struct stat st;
	SAY(stat("two", &st));
	printf("links %d, mode %o\n", (int)st.st_nlink, st.st_mode);
	SAY(lstat("two", &st));
	printf("mode %o, size %d\n", st.st_mode & S_IFMT, (int)st.st_size);
	DIR *d = opendir(".");
	for (struct dirent *e; (e = readdir(d)) && n < 10;)
		names[n++] = strdup(e->d_name);
	closedir(d);
	qsort(names, n, sizeof(*names), by_name);
	for (int i = 0; i < n; i++)
		printf("%s ", names[i]);
	printf("\n");
	SAY(rmdir("../d"));
	unlink("one"), unlink("two"), unlink("three");
	SAY(chdir(".."));
	SAY(rmdir("d"));
}

static void pipes(void)
{
	int p[2], total = 0, n;
	static char b[100000];

	pipe2(p, O_CLOEXEC);
	if (fork() == 0) {
		write(p[1], b, sizeof(b)); /* more than fits */
		_exit(0);
	}
	close(p[1]);
	struct pollfd f = { p[0], POLLIN };
	SAY(poll(&f, 1, 60000));
	while ((n = read(p[0], b, sizeof(b))) > 0)
		total += n;
	wait(NULL);
	printf("%d bytes\n", total);
	close(p[0]);
	pipe(p);
	close(p[0]);
	int pid = fork(), status;
	if (pid == 0) {
		write(p[1], "x", 1);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("writing without a reader: signal %d\n", WTERMSIG(status));
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1) { /* after exec */
		SAY(write(atoi(argv[1]), "", 0));
		SAY(write(atoi(argv[2]), "", 0));
		return 9;
	}
	mappings("file");
	directories();
	pipes();
	int keep = open("/dev/null", O_WRONLY), lose = open("/dev/null", O_WRONLY | O_CLOEXEC), status;
	char a[10], b[10];
	sprintf(a, "%d", keep), sprintf(b, "%d", lose);
	if (vfork() == 0) {
		execl("/proc/self/exe", "files", a, b, NULL);
		execlp("files", "files", a, b, NULL);
		_exit(99);
	}
	wait(&status);
	printf("exec: %d\n", WEXITSTATUS(status));
	return 0;
}
