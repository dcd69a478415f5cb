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
		Name: "helper-that-can-be-probed", File: "kprobes/reach/rules.go",
		Old: "\t{names{programHelpers}, names{\"sonde/kernel/bpf.*\"}, \"programs call it\"},\n", New: "",
		By:  host("kprobes/reach", "TestBlacklistOfTheKernel"),
		Why: "each call of a helper is a hit inside of the program's",
	},
}
