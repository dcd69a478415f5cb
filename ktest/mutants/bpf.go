package mutants

// compiled are defects in eBPF programs and their maps.
var compiled = []Mutant{
	{
		Name: "key-added-without-its-lock", File: "kernel/bpf/hash_trap.go",
		Old: "\t\tif l.CompareAndSwap(0, 1) {\n", New: "\t\tif l.CompareAndSwap(0, 1) || true {\n",
		By:  host("kernel/bpf", "TestLockedKey"),
		Why: "two CPUs add the same key, and it is there twice",
	},
	{
		Name: "place-taken-by-two-keys", File: "kernel/bpf/hash_trap.go",
		Old: "\treturn next, e.word.CompareAndSwap(w, next|filling)\n", New: "\te.word.Store(next | filling)\n\treturn next, true\n",
		By:  host("kernel/bpf", "TestClaim"),
		Why: "two CPUs add a key in the same place, and one of them is gone",
	},
	{
		Name: "registers-where-linux-has-them", File: "kernel/bpf/inline_amd64.go",
		Old: "\treturn off - general - call + int32(unsafe.Offsetof(amd64.Regs{}.IP)), nil\n", New: "\treturn off, nil\n",
		By:  kernel(1, "bpf/program_reads_registers_and_memory"),
		Why: "a program that asks for the instruction's address gets a word of SSE",
	},
	{
		Name: "registers-of-c-for-go", File: "trace/source/target.go",
		Old: "\t\tif isGo(site.Symbol) {\n", New: "\t\tif isGo(site.Symbol) && !t.User {\n",
		By:  host("trace/source", "TestTarget"),
		Why: "what a script says of a Go program's arguments is in other registers",
	},
	{
		Name: "map-freed-under-a-program", File: "kernel/bpf/map.go",
		Old: "\tif m.closed && m.users == 0 && m.memory != nil {\n", New: "\tif m.closed && m.memory != nil {\n",
		By:  host("kernel/bpf", "TestLoadAndClose"),
		Why: "a program writes to memory that is another map's",
	},
	{
		Name: "element-behind-the-array", File: "kernel/bpf/inline_amd64.go",
		Old: "a.imm32(m.Spec.MaxEntries)\n", New: "a.imm32(^uint32(0))\n",
		By:  kernel(1, "bpf/elements"),
		Why: "an index that is too large leads out of the array",
	},
	{
		Name: "abandoned-program-runs-for-ever", File: "kernel/handler/handler_trap.go",
		Old: "\ttrap.Self().Rescue(uintptr(r.SP), s.Frame)\n", New: "",
		By:  kernel(1, "bpf/program_that_faults_is_named"),
		Why: "no program runs any more on a CPU where one was abandoned",
	},
	{
		Name: "program-inside-of-a-program", File: "kernel/bpf/inline_amd64.go",
		Old: "in.put(0x48, 0xff, 0x04, 0x1a) // INCQ (DX)(BX)\n", New: "",
		By:  kernel(1, "bpf/hits_inside_a_program"),
		Why: "hits inside of programs are not counted: what the map counts and the ledger differ",
	},
	{
		Name: "throttled-hits-forgotten", File: "kernel/bpf/meter_trap.go",
		Old: "\t\t\tm.throttled++\n", New: "",
		By:  kernel(1, "bpf/budget_under_adversaries"),
		Why: "the ledger does not say where hits beyond the budget are",
	},
	{
		Name: "budget-that-never-ends", File: "kernel/bpf/meter_trap.go",
		Old: "\t\tif m.left <= 0 {\n", New: "\t\tif m.left < -1<<40 {\n",
		By:  host("kernel/bpf", "TestBudget"),
		Why: "a program that takes too long at each hit starves the machine",
	},
	{
		Name: "file-that-keeps-nothing", File: "kernel/bpf/prog.go",
		Old: "\tif !p.closed || p.users > 0 || p.gone {\n", New: "\tif !p.closed || p.gone {\n",
		By:  host("kernel/bpf", "TestFilesKeepObjects"),
		Why: "a pinned program goes with whatever loaded it",
	},
	{
		Name: "field-where-the-object-has-it", File: "bpf/object/core.go",
		Old: "\t\t\tin.Off = int16(then.value)\n", New: "\t\t\tin.Off = int16(now.value)\n",
		By:  host("bpf/object", "TestObjects"),
		Why: "a program reads another field than the one it names",
	},
	{
		Name: "helper-that-can-be-probed", File: "kprobes/reach/rules.go",
		Old: "\t{names{programHelpers}, names{\"sonde/kernel/bpf.*\"}, \"programs call it\"},\n", New: "",
		By:  host("kprobes/reach", "TestBlacklistOfTheKernel"),
		Why: "each call of a helper is a hit inside of the program's",
	},
	{
		Name: "verifier-without-limit-of-states", File: "bpf/verify/prune.go",
		Old: "	if len(done) > w.env.Limits.States {\n", New: "	if len(done) > 1<<30 {\n",
		By:  host("bpf/verify", "TestLimits"),
		Why: "a program takes as much memory and time of the verifier as it likes",
	},
	{
		Name: "pruned-by-an-open-state", File: "bpf/verify/prune.go",
		Old: "		m := matcher{exact: true}\n		if m.covers(old.state, s) {\n			w.refuse(\"infinite", New: "		m := matcher{exact: true}\n		if m.covers(old.state, s) {\n			w.end(n, s.cost)\n			return nil\n			w.refuse(\"infinite",
		By:  host("bpf/verify", "TestRefused"),
		Why: "an endless loop is accepted: no path leads out of it, and each comes back to a state that is seen",
	},
	{
		Name: "null-that-is-not-compared", File: "bpf/verify/memory.go",
		Old: "	case p.nullable:\n", New: "	case p.nullable && p.kind == number:\n",
		By:  host("bpf/verify", "TestRefused"),
		Why: "a key that is not there is a fault in trap context",
	},
	{
		Name: "record-that-stays-open", File: "bpf/verify/call.go",
		Old: "	if len(s.refs) > f.refs {\n", New: "	if len(s.refs) > f.refs+1 {\n",
		By:  host("bpf/verify", "TestRefused"),
		Why: "no reader sees what is written after a record that nobody submits",
	},
	{
		Name: "index-of-one-path", File: "bpf/verify/helper.go",
		Old: "	c.indices[c.pc] = -1\n", New: "",
		By:  host("bpf/verify", "TestIndices"),
		Why: "a program counts in the element that the first path means, whichever it asks for",
	},
	{
		Name: "ring-without-its-count-of-lost", File: "kernel/ring/writer_trap.go",
		Old: "	w.lost.Add(1)\n", New: "",
		By:  host("kernel/ring", "TestWhatDoesNotFitIsLost"),
		Why: "records are missing, and nothing says so",
	},
	{
		Name: "evicts-what-was-just-used", File: "kernel/bpf/lru_trap.go",
		Old: "at < since", New: "at > since",
		By:  host("kernel/bpf", "TestEvicts"),
		Why: "a full map forgets what is needed",
	},
	{
		Name: "map-freed-in-a-map", File: "kernel/bpf/inner.go",
		Old: "	if of != nil {\n		of.use(1)\n	}\n", New: "",
		By:  host("kernel/bpf", "TestMapsOfMaps"),
		Why: "a program that finds the map writes to memory that is another's",
	},
	{
		Name: "string-without-end", File: "kernel/bpf/read_trap.go",
		Old: "	*byteAt(to + n - 1) = 0\n", New: "",
		By:  host("kernel/bpf", "TestStrings"),
		Why: "a string that was cut goes on in what lies behind it",
	},
	{
		Name: "stack-walk-changes-sse", File: "kernel/bpf/keep_amd64.s",
		Old: "	MOVUPS	16(SP), X0\n", New: "	XORPS	X0, X0\n",
		By:  kernel(1, "bpf/stacks_of_the_kernel"),
		Why: "what a probed function is called with changes when the program asks for the stack",
	},
	{
		Name: "record-over-what-is-unread", File: "kernel/bpf/inline_ring_amd64.go",
		Old: "	a.imm32(size)\n", New: "	a.imm32(1 << 30)\n",
		By:  kernel(1, "bpf/records_around_the_end"),
		Why: "a ring that is full is written over, and readers find no records any more",
	},
}
