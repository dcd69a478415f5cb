/* Functions for places: one of few bytes, one with a symbol in its middle, one whose name has signs. */
__attribute__((noinline)) long work(long v) { asm volatile(""); return v; }
long again(long v) __attribute__((alias("work")));
__attribute__((noinline)) long odd(long v) asm("_ZN4core3ptr$LT$a..b$GT$17h01E");
__attribute__((noinline)) long odd(long v) { asm volatile(""); return v; }
__attribute__((noinline)) long plus(long v) asm("\"operator+\"");
__attribute__((noinline)) long plus(long v) { asm volatile(""); return v; }
long outer(void), after(void);
__asm__(".text\n.type outer,@function\nouter: mov $1, %eax\nnop\nnop\nnop\nret\n.size outer, .-outer\n"
	".set inner, outer+5\n" /* the assembler gives it the size of outer */
	".type after,@function\nafter: movabs $0x1122334455667788, %rax\nret\n.size after, .-after\n");
int main(void) { return work(0) + odd(0) + plus(0) + outer() - 1 + (after() & 0); }
