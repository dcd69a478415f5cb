long dotted(long a, long b) asm("main.dotted.0");
__attribute__((noinline, noipa)) long dotted(long a, long b) { return a * 2 + b; }
