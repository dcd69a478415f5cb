/* Functions that do not return, or are entered without a return address: a return probe leaves their stack alone.
 * The argument says which to try; the exit status is what the function has found on its stack, or 3. */
#include <string.h>

void ends(void), jumped(void), tail(void);
__attribute__((noinline)) long work(long n) { asm volatile(""); return n; }

asm(".text\n"
	".globl ends\n.type ends,@function\n" /* by a system call: it has no exit, and nothing in .eh_frame */
	"ends: mov $3, %edi\nmov $60, %eax\nsyscall\nhlt\n.size ends,.-ends\n"
	".type top,@function\n" /* it is jumped to, and takes what is on top of its stack */
	"top: mov (%rsp), %rdi\nmov $60, %eax\nsyscall\nhlt\n.size top,.-top\n"
	".globl jumped\n.type jumped,@function\n"
	"jumped: push $42\njmp top\n.size jumped,.-jumped\n"
	".type passes,@function\n" /* likewise, and its exit is a jump */
	"passes: .cfi_startproc\njmp top\n.cfi_endproc\n.size passes,.-passes\n"
	".globl tail\n.type tail,@function\n"
	"tail: push $43\njmp passes\n.size tail,.-tail\n");

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "ends") == 0)
		ends();
	if (argc > 1 && strcmp(argv[1], "jumped") == 0)
		jumped();
	if (argc > 1 && strcmp(argv[1], "tail") == 0)
		tail();
	return work(argc);
}
