/* The three calls of the page at the end of all addresses, and what the map says of it. */
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

int main(void)
{
	struct timeval old, now;
	unsigned cpu = -1;
	char line[200], last[200] = "";
	long r = ((long (*)(struct timeval *, void *))0xffffffffff600000)(&old, 0);
	gettimeofday(&now, 0);
	printf("%ld %d", r, now.tv_sec - old.tv_sec < 1000);
	printf(" %d", time(0) - ((long (*)(long *))0xffffffffff600400)(0) < 1000);
	r = ((long (*)(unsigned *, unsigned *, void *))0xffffffffff600800)(&cpu, 0, 0);
	printf(" %ld %d\n", r, cpu < 64);
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps))
		strcpy(last, line);
	fputs(last, stdout);
	return 0;
}
