package mutants

// typed are defects in what the kernel knows of types.
var typed = []Mutant{
	{
		Name: "dictionary-before-the-receiver", In: "gotypes.Dictionary",
		Old: "return 1", New: "return 0",
		By:  kernel(1, "symbols/arguments_are_where_the_table_says"),
		Why: "all arguments of a generic method are taken from the wrong registers",
	},
	{
		Name: "results-behind-the-arguments", In: "gotypes.Assign",
		Old: "a.ints, a.floats = 0, 0", New: "",
		By:  kernel(1, "symbols/arguments_are_where_the_table_says"),
		Why: "results are looked for in the registers that the arguments left free",
	},
	{
		Name: "any-description-is-right", In: "gotypes.inside",
		Old: "|| !agree(&types[id], &d) ", New: "",
		By:  host("gotypes", "TestDescribed"),
		Why: "a type gets the fields that another one with its place in memory has",
	},
	{
		Name: "a-damaged-table-is-read", In: "gotypes.parted",
		Old: "!= sum(rest[sumLen:])", New: "== 0",
		By:  host("gotypes", "TestDamagedTables"),
		Why: "the types of a table that is cut off are wrong, and nobody is told",
	},
	{
		Name: "hits-keep-sse-unproved", In: "internal/image.(*elfFile).checkTraps",
		Old: "|| g.HitKeepsSSE() != nil ", New: "",
		By:  host("internal/image", "TestProofOfHitsIsNoted"),
		Why: "hits that change X0-X14 do not save them",
	},
}
