package mutants

// short are defects in system calls that are answered on the way into the kernel, and in the short
// ways of others.
var short = []Mutant{
	{
		Name: "short-call-not-told", In: "linux/proc.(*Thread).Plain",
		Old: "if t.special() {\n\t\treturn false\n\t}", New: "",
		By:  kernel(1, "programs/short_calls_are_told"),
		Why: "strace does not see getpid",
	},
	{
		Name: "short-call-changes-x15", In: "arch/amd64/user.answer",
		Old: "MOVUPS\tXMM(15)(R15), X15", New: "",
		By:  kernel(1, "programs/short_calls_keep_registers"),
		Why: "getpid clears a register of the program",
	},
	{
		Name: "short-call-costs-nothing", In: "arch/amd64/user.answer",
		Old: "ADDQ\tAX, Context_elsewhere(R15)", New: "",
		By:  kernel(1, "programs/short_calls_take_time"),
		Why: "a program that only calls getpid uses no time in the kernel",
	},
	{
		Name: "short-call-with-interrupts-off", In: "arch/amd64/user.answer",
		Old: "SWAPGS", New: "MOVQ\t$const_flagsFixed, AX\n\tMOVQ\tAX, (REGS+regs_R11)(R15)\n\tSWAPGS",
		By:  kernel(1, "programs/short_calls_can_be_killed"),
		Why: "a program that has called getpid cannot be interrupted",
	},
	{
		Name: "short-call-of-any-code", In: "kprobes/reach.(*Graph).shorts",
		Old: "all = append(all, g.callees(value)...)", New: "_ = value",
		By:  host("kprobes/reach", "TestShortCalls"),
		Why: "the build does not look at the functions of short calls",
	},
	{
		Name: "short-call-may-panic", In: "kprobes/reach.unfit",
		Old: "if dying.fits(f.Name) {\n\t\treturn \" grows the stack or panics\"\n\t}", New: "",
		By:  host("kprobes/reach", "TestShortCalls"),
		Why: "a short call may move the stack that it runs on",
	},
	{
		Name: "few-bytes-lost", In: "linux/syscall.(*mover).readFew",
		Old: "m.giveBack(b[:got], put)", New: "put",
		By:  host("linux/syscall", "TestPipeKeepsWhatCannotBeStored"),
		Why: "a read into memory that ends loses what a pipe had",
	},
	{
		Name: "few-bytes-written-through", In: "linux/space.(*Space).reachable",
		Old: " || want == Write && e&pteW == 0", New: "",
		By:  host("linux/space", "TestAgainstAModel"),
		Why: "a system call writes to a page that the program may only read, or shares",
	},
	{
		Name: "pipe-does-not-wrap", In: "kernel/vfs/pipe.(*pipe).copyOut",
		Old: "if n < len(dst) && n < p.used {\n\t\tn += copy(dst[n:], p.buf[:p.used-n])\n\t}", New: "",
		By:  host("kernel/vfs/pipe", "TestResizingKeepsWhatIsInThePipe"),
		Why: "a read ends where the pipe's buffer does",
	},
}
