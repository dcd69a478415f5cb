// How long calls take, a record for each: maps by BTF, variables, functions of the program.
#include "bpf.h"

struct event {
	u64 thread, ns;
	u32 number, kind;
};

struct {
	__uint(type, HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u64);
} begun SEC(".maps");

struct {
	__uint(type, RINGBUF);
	__uint(max_entries, 65536);
} events SEC(".maps");

struct {
	__uint(type, PERCPU_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 8);
	__uint(max_entries, 4);
	__uint(map_flags, 0);
} sums SEC(".maps");

const volatile u32 kind = 7;
u32 number = 100;
u64 returned;

static __noinline void add(u32 to, u64 n)
{
	u64 *sum = lookup(&sums, &to);
	if (sum)
		*sum += n;
}

static __noinline int report(u64 thread, u64 ns)
{
	struct event *e = ringbuf_reserve(&events, sizeof *e, 0);
	if (!e)
		return 1;
	e->thread = thread;
	e->ns = ns;
	e->number = number;
	e->kind = kind;
	ringbuf_submit(e, 0);
	add(1, ns);
	return 0;
}

SEC("kprobe/vfs.Read")
int entry(struct pt_regs *ctx)
{
	u64 thread = get_current_pid_tgid(), now = ktime_get_ns();
	update(&begun, &thread, &now, 0);
	add(0, 1);
	return 0;
}

SEC("kretprobe/vfs.Read")
int done(struct pt_regs *ctx)
{
	u64 thread = get_current_pid_tgid();
	u64 *t = lookup(&begun, &thread);
	if (!t)
		return 0;
	report(thread, ktime_get_ns() - *t);
	delete(&begun, &thread);
	__sync_fetch_and_add(&returned, 1);
	return 0;
}

char _license[] SEC("license") = "GPL";
