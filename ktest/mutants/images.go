package mutants

// images are defects in what is read from the image: what may not be probed, and
// where instructions lead.
var images = []Mutant{
	{
		Name: "walk-ends-at-jumps", File: "kprobes/reach/graph.go",
		Old: "\tcase insn.Call, insn.Jmp, insn.Jcc, insn.Loop:\n", New: "\tcase insn.Call, insn.Jcc, insn.Loop:\n",
		By:  host("kprobes/reach", "TestFuncHasWhereItsCodeLeads"),
		Why: "what a trap reaches by a jump can be probed",
	},
	{
		Name: "walk-does-not-follow-rules", File: "kprobes/reach/blacklist.go",
		Old: "\t\tif len(f.Indirect) > 0 && fits(r.caller, f.Name) {\n", New: "\t\tif len(f.Indirect) > 1 && fits(r.caller, f.Name) {\n",
		By:  host("kprobes/reach", "TestBlacklistFollowsTraps"),
		Why: "what a trap calls through a register can be probed",
	},
	{
		Name: "cold-code-too-broad", File: "kprobes/reach/rules.go",
		Old: "\t\"sonde/kernel/die.Fatal\", \"sonde/kernel/die.strayBreakpoint\",", New: "\t\"sonde/kernel/die.*\", \"sonde/kernel/die.Fatal\", \"sonde/kernel/die.strayBreakpoint\",",
		By:  host("kprobes/reach", "TestBlacklistOfTheKernel"),
		Why: "what takes exceptions can be probed",
	},
	{
		Name: "list-with-a-name-that-fits-nothing", File: "kprobes/reach/rules.go",
		Old: "\"sonde/kprobes.detour\", \"sonde/kprobes.note\", ", New: "\"sonde/kprobes.detours\", \"sonde/kprobes.note\", ",
		By:  host("kprobes/reach", "TestEveryNameFitsTheImage"),
		Why: "a name that was changed protects nothing",
	},
	{
		Name: "trap-code-locks", File: "kprobes/hit_trap.go",
		Old: "\tst.begins(pt, r)\n\tst.soft++\n", New: "\tmu.Lock()\n\tmu.Unlock()\n\tst.begins(pt, r)\n\tst.soft++\n",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit waits for a lock that what it has interrupted holds",
	},
	{
		Name: "trap-code-allocates", File: "kprobes/hit_trap.go",
		Old: "\tst.begins(pt, r)\n\tst.soft++\n", New: "\treplaced = append(replaced, pt.list.First())\n\tst.begins(pt, r)\n\tst.soft++\n",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit allocates while what it has interrupted is in the middle of that",
	},
	{
		Name: "trap-code-uses-a-map", File: "kprobes/hit_trap.go",
		Old: "\tst.begins(pt, r)\n\tst.soft++\n", New: "\tif map[int]bool{1: true}[id] {\n\t\treturn\n\t}\n\tst.begins(pt, r)\n\tst.soft++\n",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit reads a map that what it has interrupted changes",
	},
	{
		Name: "trap-code-uses-a-channel", File: "kprobes/hit_trap.go",
		Old: "\tst.begins(pt, r)\n\tst.soft++\n", New: "\tvar c chan int\n\tselect {\n\tcase c <- id:\n\tdefault:\n\t}\n\tst.begins(pt, r)\n\tst.soft++\n",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit takes the lock of a channel that what it has interrupted holds",
	},
	{
		Name: "trap-code-stores-a-pointer", File: "kprobes/hit_trap.go",
		Old: "\tst.begins(pt, r)\n\tst.soft++\n", New: "\tpt.detour = nil\n\tst.begins(pt, r)\n\tst.soft++\n",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit runs a write barrier, and the collector's buffer is another's",
	},
	{
		Name: "trap-code-starts-a-goroutine", File: "kprobes/hit_trap.go",
		Old: "\tst.begins(pt, r)\n\tst.soft++\n", New: "\tgo pt.countMissed(id)\n\tst.begins(pt, r)\n\tst.soft++\n",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit calls the scheduler",
	},
	{
		Name: "trap-code-panics", File: "kprobes/hit_trap.go",
		Old: "\tst.begins(pt, r)\n\tst.soft++\n", New: "\tif r.Flags == 0 {\n\t\tpanic(\"no flags\")\n\t}\n\tst.begins(pt, r)\n\tst.soft++\n",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit panics",
	},
	{
		Name: "hit-writes-sse", File: "kwatch/hit_trap.go",
		Old: "\th.DebugReg, h.Type, h.Addr, h.IP = st.reg, p.typ, p.addr, p.addr // a whole Hit would be copied by X14\n", New: "\t*h = Hit{DebugReg: st.reg, Type: p.typ, Addr: p.addr, IP: p.addr, Old: p.last, New: p.last + 1}\n",
		By:  host("kprobes/reach", "TestHitsKeepSSE"),
		Why: "the watched code finds other floating-point numbers than it left",
	},
	{
		Name: "stack-switch-not-seen", File: "kprobes/reach/stack.go",
		Old: "\tcase 0x94, 0x5c: // XCHG AX, SP; POP SP\n", New: "\tcase 0x94: // XCHG AX, SP; POP SP\n",
		By:  host("kprobes/reach", "TestStackSwitchesAreFound"),
		Why: "a function that does not return on its own stack gets a return probe",
	},
}
