#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum colour { RED, GREEN = 5, BLUE };

typedef struct point {
	int32_t x, y;
} point_t;

union number {
	long whole;
	double real;
	char bytes[16];
};

struct inner;

struct outer {
	char letter;
	const char *name;
	unsigned low : 3, middle : 7;
	unsigned high : 20;
	long wide : 40;
	enum colour colour;
	point_t points[3];
	struct {
		short hidden;
		union {
			int a;
			char b;
		};
	};
	union number number;
	struct inner *inner;
	struct outer *next;
	int grid[2][3];
	__int128 huge;
	double real;
	_Bool yes;
	int rest[];
};

struct inner {
	uint8_t byte;
	struct outer **outers;
};

struct pair {
	long a, b;
};

struct mixed {
	double d;
	int i;
};

struct large {
	long a[3];
};

int registers(int a, const char *b, struct outer *c, double d, enum colour e, point_t f, unsigned char g)
{
	return a + e + f.x + g + (d > 1) + (b && c);
}

long split(long a, long b, long c, long d, long e, struct pair f, long g, int h)
{
	return a + b + c + d + e + f.a + g + h;
}

int stacked(struct large a, struct mixed b, long double c, struct large d, int e)
{
	return a.a[0] + b.i + (c > 1) + d.a[0] + e;
}

static inline int twice(int half)
{
	return 2 * half;
}

#define FIELD(f) printf("outer." #f " %zu\n", offsetof(struct outer, f))

int main(void)
{
	struct pair pair = { 1, 2 };
	point_t point = { 1, 2 };
	struct large large = { { 1 } };
	struct mixed mixed = { 1, 2 };
	struct inner inner = { 1, NULL };

	FIELD(letter), FIELD(name), FIELD(colour), FIELD(points), FIELD(hidden), FIELD(a), FIELD(b), FIELD(number), FIELD(inner);
	FIELD(next), FIELD(grid), FIELD(huge), FIELD(real), FIELD(yes), FIELD(rest);
	printf("sizeof outer %zu\n", sizeof(struct outer));
	printf("sizeof number %zu\n", sizeof(union number));
	printf("sizeof point_t %zu\n", sizeof(point_t));
	return registers(1, "", NULL, 1, RED, point, inner.byte) + split(1, 2, 3, 4, 5, pair, 7, 8) + stacked(large, mixed, 1, large, 5) + twice(1) == 0;
}
