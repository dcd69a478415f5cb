// What depends on the kernel's types: fields that are elsewhere, of another size, or not there.
#include "bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct inner { int a; long b[4]; };
struct task { int pid; struct inner in; union { u32 low; u64 whole; }; u32 five : 5, rest : 11; struct task *next; };
struct task___old { int tgid; };
struct gone { int x; };
struct pt_regs___few { unsigned long ax, di; unsigned int ip; };
#pragma clang attribute pop

enum color { red = 3, blue = 4 };
enum color___more { green = 9 };

#define exists(field) __builtin_preserve_field_info(field, 2)
#define offset(field) __builtin_preserve_field_info(field, 0)
#define size(field) __builtin_preserve_field_info(field, 1)
#define left(field) __builtin_preserve_field_info(field, 4)
#define right(field) __builtin_preserve_field_info(field, 5)
#define type_size(t) __builtin_preserve_type_info(*(t *)0, 1)
#define type_exists(t) __builtin_preserve_type_info(*(t *)0, 0)

u64 out[16];

SEC("kprobe/vfs.Read")
int fields(struct pt_regs *ctx)
{
	struct task *t = 0;
	struct task___old *o = 0;
	out[0] = offset(t->in.b[2]);
	out[1] = offset(t->low);
	out[2] = size(t->in);
	out[3] = exists(t->pid);
	out[4] = exists(o->tgid);
	out[5] = left(t->rest);
	out[6] = right(t->rest);
	out[7] = type_size(struct task);
	out[8] = type_exists(struct gone);
	out[9] = __builtin_preserve_enum_value(*(enum color *)blue, 1);
	out[10] = __builtin_preserve_enum_value(*(enum color___more *)green, 0);
	return 0;
}

SEC("kprobe/vfs.Write")
int loads(struct pt_regs *ctx)
{
	struct pt_regs___few *regs = (void *)ctx;
	out[0] = regs->di;
	out[1] = regs->ip;
	return 0;
}

SEC("kprobe/vfs.Open")
int guarded(struct pt_regs *ctx)
{
	struct gone *g = (void *)ctx;
	if (exists(g->x))
		out[0] = g->x;
	return 0;
}

SEC("kprobe/vfs.Seek")
int unguarded(struct pt_regs *ctx)
{
	struct gone *g = (void *)ctx;
	out[0] = g->x;
	return 0;
}

char _license[] SEC("license") = "Dual MIT/GPL";
