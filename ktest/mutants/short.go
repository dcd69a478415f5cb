package mutants

// short are defects in system calls that are answered on the way into the kernel, and in the short
// ways of others.
var short = []Mutant{
	{
		Name: "short-call-not-told", File: "linux/proc/run.go",
		Old: "\tif t.special() {\n\t\treturn false\n\t}\n\tt.call", New: "\tt.call",
		By:  kernel(1, "programs/short_calls_are_told"),
		Why: "strace does not see getpid",
	},
	{
		Name: "short-call-changes-x15", File: "arch/amd64/user/enter_amd64.s",
		Old: "refused:\n\tMOVUPS\tXMM(15)(R15), X15\n", New: "refused:\n",
		By:  kernel(1, "programs/short_calls_keep_registers"),
		Why: "getpid clears a register of the program",
	},
	{
		Name: "short-call-costs-nothing", File: "arch/amd64/user/enter_amd64.s",
		Old: "\tADDQ\tAX, Context_elsewhere(R15)\n\tTESTB", New: "\tTESTB",
		By:  kernel(1, "programs/short_calls_take_time"),
		Why: "a program that only calls getpid uses no time in the kernel",
	},
	{
		Name: "short-call-with-interrupts-off", File: "arch/amd64/user/enter_amd64.s",
		Old: "\tTESTB\tBX, BX\n\tJEQ\tlong\n\tSWAPGS\n", New: "\tTESTB\tBX, BX\n\tJEQ\tlong\n\tMOVQ\t$const_flagsFixed, AX\n\tMOVQ\tAX, (REGS+regs_R11)(R15)\n\tSWAPGS\n",
		By:  kernel(1, "programs/short_calls_can_be_killed"),
		Why: "a program that has called getpid cannot be interrupted",
	},
	{
		Name: "short-call-of-any-code", File: "kprobes/reach/short.go",
		Old: "all = append(all, g.callees(value)...)", New: "_ = value",
		By:  host("kprobes/reach", "TestShortCalls"),
		Why: "the build does not look at the functions of short calls",
	},
	{
		Name: "short-call-may-panic", File: "kprobes/reach/short.go",
		Old: "\tif dying.fits(f.Name) {\n\t\treturn \" grows the stack or panics\"\n\t}\n", New: "",
		By:  host("kprobes/reach", "TestShortCalls"),
		Why: "a short call may move the stack that it runs on",
	},
	{
		Name: "few-bytes-lost", File: "linux/syscall/io.go",
		Old: "got, err = m.giveBack(b[:got], put), bad", New: "got, err = put, bad",
		By:  host("linux/syscall", "TestPipeKeepsWhatCannotBeStored"),
		Why: "a read into memory that ends loses what a pipe had",
	},
	{
		Name: "few-bytes-written-through", File: "linux/space/copy.go",
		Old: " || want == Write && e&pteW == 0", New: "",
		By:  host("linux/space", "TestAgainstAModel"),
		Why: "a system call writes to a page that the program may only read, or shares",
	},
	{
		Name: "pipe-does-not-wrap", File: "kernel/vfs/pipe/pipe.go",
		Old: "\tif n < len(dst) && n < p.used {\n\t\tn += copy(dst[n:], p.buf[:p.used-n])\n\t}\n", New: "",
		By:  host("kernel/vfs/pipe", "TestResizingKeepsWhatIsInThePipe"),
		Why: "a read ends where the pipe's buffer does",
	},
}
