/* Functions of C whose names have dots, as compilers and linkers make them for parts of functions (OpenMP,
 * nested functions) and copies (clones for a processor, ThinLTO), and one of Rust's. */
#include <stdio.h>

#define NAMED(f, name) \
	long f(long a, long b) asm(name); \
	__attribute__((noinline, noclone)) long f(long a, long b) { asm volatile(""); return a * 2 + b; }

NAMED(region, "main._omp_fn.0")
NAMED(clone, "sum.avx2.0")
NAMED(imported, "lookup.llvm.15800189371373731370")
NAMED(rust, "_ZN4core3ptr5thing$LT$std..rt..x$GT$17h0123456789abcdefE")

int main(void)
{
	long s = 0;
	for (long i = 1; i <= 2; i++)
		s += region(i, 50 + i) + clone(i, 60 + i) + imported(i, 70 + i) + rust(i, 80 + i);
	printf("%ld\n", s);
	return 0;
}
