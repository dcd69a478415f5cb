// A program in each kind of section, which counts its hits; one of them says something, one depends on the
// kernel's types.
#include "bpf.h"

static long (*trace_printk)(const char *text, u32 size, ...) = (void *)6;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs___more { unsigned long ip; };
struct vfs_File___none { int no_such_field; };
#pragma clang attribute pop

struct {
	__uint(type, PERCPU_ARRAY);
	__uint(max_entries, 9);
	__type(key, u32);
	__type(value, u64);
} hits SEC(".maps");

u64 ip, field;

static __noinline int hit(u32 section)
{
	u64 *n = lookup(&hits, &section);
	if (n)
		*n += 1;
	return 0;
}

SEC("kprobe/vfs.Open")
int in_kernel(struct pt_regs___more *ctx)
{
	static const char text[] = "opened for %d\n";
	struct vfs_File___none *file = 0;
	ip = ctx->ip;
	field = __builtin_preserve_field_info(file->no_such_field, 2);
	trace_printk(text, sizeof text, get_current_pid_tgid() >> 32);
	return hit(0);
}

SEC("kretprobe/vfs.Open") int returned(void *ctx) { return hit(1); }
SEC("ksyscall/write") int called(void *ctx) { return hit(2); }
SEC("kretsyscall/write") int left(void *ctx) { return hit(3); }
SEC("uprobe//bin/sh:syscall.write") int in_program(void *ctx) { return hit(4); }
SEC("uretprobe//bin/sh:syscall.write") int out_of_program(void *ctx) { return hit(5); }
SEC("tick/100hz") int ticked(void *ctx) { return hit(6); }
SEC("every/10ms") int repeated(void *ctx) { return hit(7); }
SEC("tracepoint/sched/sched_process_exec") int traced(void *ctx) { return hit(8); }

char _license[] SEC("license") = "GPL";
