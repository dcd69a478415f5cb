// Maps as they were described before BTF, two programs in one section, a callback; compiled without -g.
#include "bpf.h"

struct {
	u32 type, key_size, value_size, max_entries, map_flags;
} counts SEC("maps") = {ARRAY, 4, 8, 2, 0}, others SEC("maps") = {HASH, 8, 4, 16, 1};

static long each(u32 i, u64 *sum)
{
	*sum += i;
	return 0;
}

SEC("tick/100hz")
int first(struct pt_regs *ctx)
{
	u64 sum = 0, *value;
	u32 key = 1;
	loop(10, each, &sum, 0);
	value = lookup(&counts, &key);
	if (value)
		*value = sum;
	return 0;
}

SEC("tick/100hz")
int second(struct pt_regs *ctx)
{
	u64 key = ctx->ip;
	u32 one = 1;
	update(&others, &key, &one, 0);
	return 0;
}

char _license[] SEC("license") = "Proprietary";
