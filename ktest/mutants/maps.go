package mutants

// kept are defects in maps and lists of eBPF programs, and in what holds them.
var kept = []Mutant{
	{
		Name: "entry-that-changes-is-found", In: "probe/program.(*Map).findWord",
		Old: ".Load() == key && e.word.Load() == w", New: ".Load() == key",
		By:  host("probe/program", "TestChangingEntryIsNotFound"),
		Why: "a program reads the value of another key",
	},
	{
		Name: "long-key-that-changes-is-found", In: "probe/program.(*Map).findEntry",
		Old: " && e.word.Load() == w", New: "",
		By:  host("probe/program", "TestChangingEntryIsNotFound"),
		Why: "a program reads the value of another key",
	},
	{
		Name: "program-held-by-a-refusal", In: "probe/program.(*Prog).entries",
		Old: "\tp.release()", New: "\t_ = p",
		By:  host("probe/program", "TestNoRoomInArrays"),
		Why: "a program that does not fit into an array is never freed",
	},
	{
		Name: "queue-that-drops-early", In: "probe/program.(*Map).push",
		Old: "if q.count == m.Spec.MaxEntries && how == Exist {", New: "if q.count > 0 && how == Exist {",
		By:  host("probe/program", "TestQueues"),
		Why: "values are missing although there was room",
	},
	{
		Name: "list-that-changes-under-its-reader", In: "probe/program.(*registry).remove",
		Old: "slices.Concat(r.get()[:i], r.get()[i+1:])", New: "append(r.get()[:i], r.get()[i+1:]...)",
		By:  host("probe/program", "TestListsThatWereRead"),
		Why: "a reader of the list of programs misses one, and sees another twice",
	},
	{
		Name: "metered-for-ever", In: "probe/program.(*Prog).setDoor",
		Old: "p.always = false", New: "_ = p",
		By:  host("probe/program", "TestMeteredFromTheBeginning"),
		Why: "hits while nobody measured are unexplained",
	},
	{
		Name: "key-of-two-cpus-twice", In: "probe/program.(*Map).Scan",
		Old: " && !m.isBefore(cpu, key)", New: "",
		By:  host("probe/program", "TestScanFindsEachKeyOnce"),
		Why: "a reader gets a key as often as CPUs have it",
	},
	{
		Name: "evicted-and-counted", In: "probe/program.(*Map).evict",
		Old: "t.entries.Add(-1)", New: "_ = t",
		By:  host("probe/program", "TestEvicts"),
		Why: "a map is full after as many evictions as it has entries",
	},
	{
		Name: "inner-map-that-stays", In: "probe/program.(*Map).Put",
		Old: "\told.use(-1)", New: "\t_ = old",
		By:  host("probe/program", "TestMapsOfMaps"),
		Why: "a map that was replaced in another is never freed",
	},
	{
		Name: "element-one-behind", In: "probe/program.(*Map).element",
		Old: "i >= m.Spec.MaxEntries", New: "i > m.Spec.MaxEntries",
		By:  host("probe/program", "TestArray"),
		Why: "the element behind the array is another map's memory",
	},
}
