package mutants

// images are defects in what is read from the image: what may not be probed, and
// where instructions lead.
var images = []Mutant{
	{
		Name: "walk-ends-at-jumps", In: "kprobes/reach.(*Graph).flow",
		Old: "Jmp, insn.", New: "",
		By:  host("kprobes/reach", "TestFuncHasWhereItsCodeLeads"),
		Why: "what a trap reaches by a jump can be probed",
	},
	{
		Name: "walk-does-not-follow-rules", In: "kprobes/reach.(*Graph).leads",
		Old: "> 0 &&", New: "> 1 &&",
		By:  host("kprobes/reach", "TestBlacklistFollowsTraps"),
		Why: "what a trap calls through a register can be probed",
	},
	{
		Name: "cold-code-too-broad", In: "kprobes/reach.cold",
		Old: `Fatal"`, New: `*", "sonde/kernel/die.Fatal"`,
		By:  host("kprobes/reach", "TestBlacklistOfTheKernel"),
		Why: "what takes exceptions can be probed",
	},
	{
		Name: "list-with-a-name-that-fits-nothing", In: "kprobes/reach.trapEntries",
		Old: "detour", New: "detours",
		By:  host("kprobes/reach", "TestEveryNameFitsTheImage"),
		Why: "a name that was changed protects nothing",
	},
	{
		Name: "trap-code-locks", In: "kprobes.onDetour",
		Old: "st.begins", New: "mu.Lock()\n\tmu.Unlock()\n\tst.begins",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit waits for a lock that what it has interrupted holds",
	},
	{
		Name: "trap-code-allocates", In: "kprobes.onDetour",
		Old: "st.begins", New: "replaced = append(replaced, pt.list.First())\n\tst.begins",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit allocates while what it has interrupted is in the middle of that",
	},
	{
		Name: "trap-code-uses-a-map", In: "kprobes.onDetour",
		Old: "st.begins", New: "if map[int]bool{1: true}[id] {\n\t\treturn\n\t}\n\tst.begins",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit reads a map that what it has interrupted changes",
	},
	{
		Name: "trap-code-uses-a-channel", In: "kprobes.onDetour",
		Old: "st.begins", New: "var c chan int\n\tselect {\n\tcase c <- id:\n\tdefault:\n\t}\n\tst.begins",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit takes the lock of a channel that what it has interrupted holds",
	},
	{
		Name: "trap-code-stores-a-pointer", In: "kprobes.onDetour",
		Old: "st.begins", New: "pt.detour = nil\n\tst.begins",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit runs a write barrier, and the collector's buffer is another's",
	},
	{
		Name: "trap-code-starts-a-goroutine", In: "kprobes.onDetour",
		Old: "st.begins", New: "go pt.countMissed(id)\n\tst.begins",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit calls the scheduler",
	},
	{
		Name: "trap-code-panics", In: "kprobes.onDetour",
		Old: "st.begins", New: "if r.Flags == 0 {\n\t\tpanic(\"no flags\")\n\t}\n\tst.begins",
		By:  host("kprobes/reach", "TestTrapCodeKeepsItsRules"),
		Why: "a hit panics",
	},
	{
		Name: "hit-writes-sse", In: "kwatch.(*state).take",
		Old: "h.DebugReg, h.Type, h.Addr, h.IP = st.reg, p.typ, p.addr, p.addr // a whole Hit would be copied by X14", New: "*h = Hit{DebugReg: st.reg, Type: p.typ, Addr: p.addr, IP: p.addr, Old: p.last, New: p.last + 1}",
		By:  host("kprobes/reach", "TestHitsKeepSSE"),
		Why: "the watched code finds other floating-point numbers than it left",
	},
	{
		Name: "stack-switch-not-seen", In: "kprobes/reach.loadsSP",
		Old: ", 0x5c", New: "",
		By:  host("kprobes/reach", "TestStackSwitchesAreFound"),
		Why: "a function that does not return on its own stack gets a return probe",
	},
}
