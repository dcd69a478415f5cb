// A program without a library, linked at several addresses: it says where it is, and where in all
// addresses memory can be mapped.

typedef unsigned long word;

static const char digits[] = "0123456789abcdef";
static word counter = 41; // must be its own, writable, where it was linked
static char zeros[100000];

static long call(long n, word a, word b, word c, word d, word e, word f)
{
	register word r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return n;
}

static void say(const char *what, word value)
{
	char line[100];
	int n = 0;
	while (*what)
		line[n++] = *what++;
	for (int shift = 60; shift >= 0; shift -= 4)
		line[n++] = digits[value >> shift & 15];
	line[n++] = '\n';
	call(1, 1, (word)line, n, 0, 0, 0);
}

enum { PAGE = 4096, MMAP = 9, MUNMAP = 11, BRK = 12, EXIT = 231, FLAGS = 0x100022 }; // NOREPLACE, ANONYMOUS, PRIVATE

// map says whether a page can be mapped at addr and keeps what is stored there.
static void map(word addr)
{
	long at = call(MMAP, addr, PAGE, 3, FLAGS, -1, 0);
	say("map ", addr);
	if (at < 0 && at > -4096) {
		say(" error ", -at);
		return;
	}
	volatile word *p = (word *)at;
	*p = addr;
	p[PAGE / sizeof *p - 1] = ~addr;
	say(" holds ", *p ^ p[PAGE / sizeof *p - 1]);
	call(MUNMAP, at, PAGE, 0, 0, 0, 0);
}

void _start(void)
{
	static const word places[] = {
		1ul << 16, 1ul << 20, 1ul << 25, 96ul << 20, 3ul << 30, 1ul << 32, 640ul << 30, 768ul << 30, 1ul << 40,
		99ul << 40, 127ul << 40, (1ul << 47) - PAGE, 1ul << 47, 1ul << 63, 0xffff800000000000, 0xffff800004f00000,
		0xffffffc000000000, 0xffffffff84000000, 0xfffffffffffff000,
	};
	say("code ", (word)_start & ~0xffful);
	say("data ", ++counter);
	word sum = 0;
	for (unsigned i = 0; i < sizeof zeros; i++)
		sum += zeros[i];
	say("zeros ", sum);
	word end = call(BRK, 0, 0, 0, 0, 0, 0);
	say("brk ", call(BRK, end + PAGE, 0, 0, 0, 0, 0) - end);
	*(volatile char *)end = 1;
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
		map(places[i]);
	call(EXIT, 3, 0, 0, 0, 0, 0);
}
