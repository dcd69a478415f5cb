package mutants

// typed are defects in what the kernel knows of types.
var typed = []Mutant{
	{
		Name: "dictionary-before-the-receiver", File: "gotypes/abi.go",
		Old: "\t\treturn -1\n\t}\n\treturn 1\n", New: "\t\treturn -1\n\t}\n\treturn 0\n",
		By:  kernel(1, "symbols/arguments_are_where_the_table_says"),
		Why: "all arguments of a generic method are taken from the wrong registers",
	},
	{
		Name: "results-behind-the-arguments", File: "gotypes/abi.go",
		Old: "\ta.ints, a.floats = 0, 0\n", New: "",
		By:  kernel(1, "symbols/arguments_are_where_the_table_says"),
		Why: "results are looked for in the registers that the arguments left free",
	},
	{
		Name: "any-description-is-right", File: "gotypes/inside.go",
		Old: "if !ok || !agree(&types[id], &d) {", New: "if !ok {",
		By:  host("gotypes", "TestDescribed"),
		Why: "a type gets the fields that another one with its place in memory has",
	},
	{
		Name: "a-damaged-table-is-read", File: "gotypes/encode.go",
		Old: "binary.LittleEndian.Uint32(rest) != sum(rest[sumLen:])", New: "binary.LittleEndian.Uint32(rest) == 0",
		By:  host("gotypes", "TestDamagedTables"),
		Why: "the types of a table that is cut off are wrong, and nobody is told",
	},
	{
		Name: "hits-keep-sse-unproved", File: "internal/image/traps.go",
		Old: "err != nil || g.HitKeepsSSE() != nil {", New: "err != nil {",
		By:  host("internal/image", "TestProofOfHitsIsNoted"),
		Why: "hits that change X0-X14 do not save them",
	},
}
