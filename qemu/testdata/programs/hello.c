/* The smallest program: arguments, environment, exit status. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("%d: %s\n", i, argv[i]);
	printf("%s\n", getenv("PATH") ? "PATH is set" : "no PATH");
	return argc;
}
