/* What C++ and a JIT make: names that stand for others, and code with a map of its names. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define CPP(f, name) __attribute__((noinline)) long f(long v) asm(name); long f(long v) { asm volatile(""); return v; }
CPP(area, "_ZN2ns2Sq4areaEi")
CPP(add_int, "_Z3addii")
CPP(add_double, "_Z3adddd")
CPP(rust, "_RNvCs1234_7mycrate3foo")
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3}; /* push %rbp; mov %rsp,%rbp; call *%rdi; pop; ret */
int main(void)
{
	char name[64];
	unsigned char *m = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *f;
	memcpy(m, code, sizeof code);
	memcpy(m + 64, code, sizeof code);
	snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx %x Interpreted:hello.js:7\n", (long)m, (int)sizeof code);
	fclose(f);
	((long (*)(void *))m)(area);
	((long (*)(void *))(m + 64))(area);
	return add_int(0) + add_double(0) + rust(0);
}
