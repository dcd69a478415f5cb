// Far returns and IRET in ring 3, which an emulator may take for the kernel's.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sigjmp_buf again;

static void caught(int sig, siginfo_t *i, void *context) {
	(void)sig, (void)context;
	printf("signal, code %d\n", i->si_code);
	siglongjmp(again, 1);
}

int main(void) {
	static char stack[1 << 16];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&other, 0);
	struct sigaction a = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	unsigned long before = 0, after = 0, flags = 0;
	setvbuf(stdout, 0, _IONBF, 0);
	sigaction(SIGSEGV, &a, 0);
	for (int i = 0; i < 3; i++) {
		asm volatile("sub $256, %%rsp; mov %%rsp, %0; mov %%cs, %%eax; push %%rax; lea 1f(%%rip), %%rax; push %%rax; lretq; 1: mov %%rsp, %1; add $256, %%rsp"
			: "=&r"(before), "=&r"(after) :: "rax", "memory");
		printf("lretq: %ld\n", (long)(after - before));
		asm volatile("sub $256, %%rsp; mov %%rsp, %0; pushq $1; pushq $2; mov %%cs, %%eax; push %%rax; lea 1f(%%rip), %%rax; push %%rax; .byte 0x48, 0xca, 16, 0; 1: mov %%rsp, %1; add $256, %%rsp"
			: "=&r"(before), "=&r"(after) :: "rax", "memory");
		printf("lretq 16: %ld\n", (long)(after - before));
		asm volatile("sub $256, %%rsp; mov %%rsp, %0; mov %%ss, %%eax; push %%rax; push %0; pushq $0x893; mov %%cs, %%eax; push %%rax; lea 1f(%%rip), %%rax; push %%rax; iretq; 1: pushfq; pop %2; mov %%rsp, %1; add $256, %%rsp"
			: "=&r"(before), "=&r"(after), "=&r"(flags) :: "rax", "memory", "cc");
		printf("iretq: %ld, flags %lx\n", (long)(after - before), flags & 0xcd5);
	}
	if (sigsetjmp(again, 1) == 0)
		asm volatile("sub $256, %%rsp; push $8; push $0; lretq" ::: "memory");
	if (sigsetjmp(again, 1) == 0)
		asm volatile("mov $4096, %%rsp; lretq" ::: "memory");
	puts("end");
	return 0;
}
