package mutants

// scripted are defects in what scripts are compiled to: each shows another answer than the script has.
var scripted = []Mutant{
	{
		Name: "intervals-one-more", In: "trace/lang.(*generator).addToSeries",
		Old: "m.Value.High)", New: "m.Value.High+1)",
		By:  host("trace/lang", "TestSeries"),
		Why: "an interval that is not shown any more is kept",
	},
	{
		Name: "interval-that-goes-on", In: "trace/lang.(*generator).firstOf",
		Old: `g.emit("r1 = 1")`, New: `g.emit("r1 += 1")`,
		By:  host("trace/lang", "TestSeries"),
		Why: "the average of an interval has the count of an older one",
	},
	{
		Name: "minimum-of-a-series", In: "trace/lang.(*generator).combineSeries",
		Old: `pick(t.Signed, "s", "")`, New: `""`,
		By:  host("trace/lang", "TestSeries"),
		Why: "a negative number is the largest",
	},
	{
		Name: "length-below-0", In: "trace/lang.(*generator).length",
		Old: `"if r0 <= %d`, New: `"if r0 s<= %d`,
		By:  host("trace/lang", "TestBytes"),
		Why: "a negative length is no length",
	},
	{
		Name: "mixed-signs-in-few-bytes", In: "trace/lang.Type.widerInt",
		Old: "w.Bytes = 8", New: "w.Bytes += 0",
		By:  host("trace/lang", "TestTypesThatAreKept"),
		Why: "a large number without sign is shown as negative",
	},
	{
		Name: "arrays-of-other-elements", In: "trace/lang.Type.fits",
		Old: " && t.Elem.fits(*o.Elem)", New: "",
		By:  host("trace/lang", "TestTypesThatAreKept"),
		Why: "structures are kept as numbers",
	},
	{
		Name: "record-that-wakes-nobody", In: "trace/lang.(*generator).send",
		Old: `"r4 = 0"`, New: `"r4 = 1"`,
		By:  host("trace/lang", "TestRun"),
		Why: "records come when others do",
	},
	{
		Name: "opposite-without-equal", In: "trace/lang.opposite",
		Old: `">": "<="`, New: `">": "<"`,
		By:  host("trace/lang", "TestKept"),
		Why: "a condition that does not hold does, for equal numbers",
	},
	{
		Name: "or-as-and", In: "trace/lang.(*generator).branch",
		Old: `if (e.Op == "&&") != when {`, New: `if (e.Op == "&&") != when || e.Op == "||" {`,
		By:  host("trace/lang", "TestRun"),
		Why: "a condition holds if only one of two does",
	},
	{
		Name: "less-without-sign", In: "trace/lang.(*generator).compareNumbers",
		Old: `op != "!=" && g`, New: `op != "!=" && op != "<" && g`,
		By:  host("trace/lang", "TestKept"),
		Why: "-5 is not less than 5",
	},
	{
		Name: "tuples-without-their-end", In: "trace/lang.(*generator).compareMemory",
		Old: "i < t.Size()", New: "i < t.Size()-8",
		By:  host("trace/lang", "TestKept"),
		Why: "tuples that end otherwise are equal",
	},
	{
		Name: "container-behind-its-field", In: "trace/lang.(*generator).callNumber",
		Old: `"r0 -= %d", e.Value`, New: `"r0 += %d", e.Value`,
		By:  host("trace/lang", "TestPoints"),
		Why: "container_of() gives another structure",
	},
	{
		Name: "delete-of-what-is-not-there", In: "trace/lang.(*generator).keyTruth",
		Old: `g.emit("if r0 == 0 goto %s", yes)`, New: `g.emit("if r0 != 0 goto %s", yes)`,
		By:  host("trace/lang", "TestKept"),
		Why: "delete() says the contrary",
	},
	{
		Name: "parts-of-powers-one-off", In: "trace/lang.(*generator).fine",
		Old: "-2-bits", New: "-1-bits",
		By:  host("trace/lang", "TestKept"),
		Why: "numbers are in another bucket",
	},
	{
		Name: "range-from-0", In: "trace/lang.(*generator).linear",
		Old: "t.Low-step)", New: "-step)",
		By:  host("trace/lang", "TestKept"),
		Why: "numbers are in another bucket",
	},
	{
		Name: "end-of-a-range-within", In: "trace/lang.(*generator).linear",
		Old: `s>= %d goto %s", t.High`, New: `s> %d goto %s", t.High`,
		By:  host("trace/lang", "TestKept"),
		Why: "the first number behind the range is in it",
	},
	{
		Name: "first-minimum-is-0", In: "trace/lang.(*generator).addCPU",
		Old: `g.emit("if r3 == 0 goto %s", take)`, New: "_ = take",
		By:  host("trace/lang", "TestKept"),
		Why: "the minimum of positive numbers is 0",
	},
	{
		Name: "average-without-sign", In: "trace/lang.(*generator).sumAt",
		Old: `pick(m.Value.Signed, "s", "")`, New: `""`,
		By:  host("trace/lang", "TestKept"),
		Why: "the average of negative numbers is large",
	},
	{
		Name: "pointer-in-a-map-by-bytes", In: "trace/lang.(*generator).assignMap",
		Old: `g.emit("r0 *= %d", n)`, New: "_ = n",
		By:  host("trace/lang", "TestKept"),
		Why: "a pointer points between two elements",
	},
	{
		Name: "speculation-of-a-process", In: "trace/lang.(*generator).thread",
		Old: "g.truncate(integer(4, false))", New: "_ = g",
		By:  host("trace/lang", "TestKept"),
		Why: "two threads have the same speculation",
	},
	{
		Name: "record-still-held", In: "trace/lang.(*generator).endSpeculation",
		Old: `g.emit("*(u64 *)(%s) = 0", g.held())`, New: "_ = g",
		By:  host("trace/lang", "TestKept"),
		Why: "what a probe prints after commit() is held back",
	},
	{
		Name: "bits-of-the-neighbour", In: "trace/lang.(*generator).bitField",
		Old: "64-f.Shift-f.Bits", New: "64-f.Bits",
		By:  host("trace/lang", "TestPoints"),
		Why: "a bit field has its neighbour's value",
	},
	{
		Name: "element-behind-an-array-of-a-script", In: "trace/lang.(*generator).element",
		Old: "array.Bytes/array.Elem.Bytes, end", New: "array.Bytes/array.Elem.Bytes+1, end",
		By:  host("trace/lang", "TestParts"),
		Why: "an index behind the array reads what lies there",
	},
}
