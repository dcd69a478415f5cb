/* Two files of a program with a static function of the same name each. With OTHER it is the other file. */
static __attribute__((noinline)) long twice(long a) { asm volatile(""); return a * 2; }
#ifdef OTHER
long twice_b(long a) { return twice(a) + 1; }
#else
extern long twice_b(long);
long twice_a(long a) { return twice(a) + 1; }
static long (*volatile fa)(long) = twice_a, (*volatile fb)(long) = twice_b;
int main(void) {
	for (long i = 0; i < 10; i++) fa(i);
	for (long i = 0; i < 20; i++) fb(i);
	return 0;
}
#endif
