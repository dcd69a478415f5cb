// What the objects here need of a kernel's and a loader's headers.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define __noinline __attribute__((noinline))
#define __uint(name, n) int (*name)[n]
#define __type(name, t) t *name
#define __array(name, t) t *name[]

enum { HASH = 1, ARRAY = 2, PERCPU_ARRAY = 6, ARRAY_OF_MAPS = 12, RINGBUF = 27 };

static void *(*lookup)(void *map, const void *key) = (void *)1;
static long (*update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*delete)(void *map, const void *key) = (void *)3;
static u64 (*ktime_get_ns)(void) = (void *)5;
static u64 (*get_current_pid_tgid)(void) = (void *)14;
static void *(*ringbuf_reserve)(void *map, u64 size, u64 flags) = (void *)131;
static void (*ringbuf_submit)(void *record, u64 flags) = (void *)132;
static long (*loop)(u32 n, void *f, void *context, u64 flags) = (void *)181;

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
