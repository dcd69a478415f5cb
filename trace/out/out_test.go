package out

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"sonde/kallsyms"
	"sonde/trace/lang"
)

var (
	num  = lang.Type{Kind: lang.Int, Bytes: 8, Signed: true}
	text = lang.Type{Kind: lang.String, Bytes: 16}
)

// tables is a Store: for each CPU, values by key.
type tables []map[string][]byte

func (t tables) Tables() int { return len(t) }
func (t tables) Range(cpu int, f func(key, value []byte) bool) {
	for k, v := range t[cpu] {
		f([]byte(k), v)
	}
}

// pack puts numbers and strings of 16 bytes in a row.
func pack(values ...any) (b []byte) {
	for _, v := range values {
		switch v := v.(type) {
		case int:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case string:
			s := make([]byte, 16)
			copy(s, v)
			b = append(b, s...)
		}
	}
	return b
}

func key(values ...any) string { return string(pack(values...)) }

type symbols struct{}

func (symbols) Name(addr uint64, user bool) kallsyms.Named {
	if user {
		return kallsyms.Named{Name: fmt.Sprintf("%#x", addr)}
	}
	return kallsyms.Named{Name: fmt.Sprintf("f%x", addr>>4), Offset: addr & 15, Function: true}
}

// methods is the table of an interface's methods.
const methods = 0x8000

// TestInterfaces: what they hold is printed.
func TestInterfaces(t *testing.T) {
	held := func(first uint64) string { return map[uint64]string{methods: "pkg.Held"}[first] }
	p := &Printer{Symbols: symbols{}, Held: held}
	of := lang.Type{Kind: lang.Pointer, Bytes: 8, Format: "error"}
	for word, want := range map[uint64]string{0: "nil", methods: "pkg.Held", methods + 1: "0x8001", 0x120: "0x120"} {
		data := binary.LittleEndian.AppendUint64(nil, word)
		if got := p.value(of, data); got != want {
			t.Errorf("%#x: %s, want %s", word, got, want)
		}
		if got := p.valueJSON(of, data); got != Quote(want) {
			t.Errorf("%#x: %s as JSON, want %s", word, got, Quote(want))
		}
	}
}
func (symbols) Stack(t lang.Type, id int64) []uint64 { return []uint64{0x12, 0x34} }
func (symbols) Variable(addr uint64, of string, stack []uint64) string {
	return fmt.Sprintf("p.lock of %s, used at %#x", of, stack[0])
}
func (symbols) Area(addr uint64, pid int) string { return fmt.Sprintf("area of %d", pid) }

// TestPlacesInMemory: what is at an address of the kernel or of a program has a name. What is printed alike is one entry.
func TestPlacesInMemory(t *testing.T) {
	p := &Printer{Symbols: symbols{}}
	word := lang.Type{Kind: lang.Int, Bytes: 8}
	mutex := lang.Type{Kind: lang.TupleOf, Format: "kvar", Elems: []lang.Type{{Kind: lang.Pointer, Bytes: 8, To: &lang.Struct{Name: "sync.Mutex"}}, {Kind: lang.StackID}}}
	area := lang.Type{Kind: lang.TupleOf, Format: "umap", Elems: []lang.Type{word, word}}
	data := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x100), 7)
	for of, want := range map[*lang.Type]string{&mutex: "p.lock of sync.Mutex, used at 0x12 0x100", &area: "area of 7"} {
		if got := p.value(*of, data); got != want || p.valueJSON(*of, data) != Quote(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	m := &lang.Map{Name: "@", Key: []lang.Type{area}, Value: lang.Type{Kind: lang.Count, Bytes: 8}}
	other := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x200), 7)
	all := p.gather(m, tables{{string(data): pack(3)}, {string(other): pack(2)}})
	if len(all) != 1 || all[0].n[0] != 5 {
		t.Errorf("two addresses in one area are %d entries", len(all))
	}
}

func printed(t *testing.T, json bool, f func(p *Printer) error) string {
	t.Helper()
	var b strings.Builder
	p := &Printer{W: &b, JSON: json, Symbols: symbols{}, Started: time.Unix(1e9, 0).UTC(),
		Unit: &lang.Unit{Places: []string{"kprobe:vfs.Read", "kprobe"}}}
	if err := f(p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMap(t *testing.T) {
	rule := strings.Repeat("_", 51)
	scale := "-5000000000000000000" + strings.Repeat(" ", 33) + "6000000000000000000\n"
	series := "@s:\n" + scale + "hh:mm:ss |" + rule + "|\n" +
		"01:46:44 *" + strings.Repeat(" ", 51) + "| -5000000000000000000\n01:46:45 |" + strings.Repeat(" ", 22) + "*" + strings.Repeat(" ", 28) + "| 0\n" +
		"01:46:46 |" + strings.Repeat(" ", 51) + "* 6000000000000000000\n" +
		"         v" + rule + "v\n" + scale + "\n"
	largest := "18446744073709551615"
	unsigned := func(low, high, first, lines string) string {
		scale := fmt.Sprintf("%10s%52s\n", low, high)
		return "@s:\n" + scale + "hh:mm:ss |" + rule + "|\n01:46:44 " + first + "\n" + lines + "         v" + rule + "v\n" + scale + "\n"
	}
	lhist := lang.Type{Kind: lang.LHist, Low: 0, High: 2048, Step: 1024}
	for _, c := range []struct {
		name       string
		m          lang.Map
		s          tables
		top, div   int
		want, json string
	}{
		{"numbers are sorted by value, then by key", lang.Map{Name: "@", Key: []lang.Type{text, num}, Value: num},
			tables{{key("b", 10): pack(1), key("b", 9): pack(1), key("a", 1): pack(7), key("c", -1): pack(-3)}}, 0, 0,
			"@[c, -1]: -3\n@[b, 9]: 1\n@[b, 10]: 1\n@[a, 1]: 7\n\n", `{"type": "map", "data": {"@": {"c,-1": -3, "b,9": 1, "b,10": 1, "a,1": 7}}}` + "\n"},
		{"counts of all CPUs are added", lang.Map{Name: "@c", Value: lang.Type{Kind: lang.Count}},
			tables{{"\x00": pack(3)}, {"\x00": pack(4)}, {}}, 0, 0, "@c: 7\n\n", `{"type": "map", "data": {"@c": 7}}` + "\n"},
		{"the largest, divided", lang.Map{Name: "@c", Key: []lang.Type{num}, Value: lang.Type{Kind: lang.Sum, Signed: true}},
			tables{{key(1): pack(30), key(2): pack(20)}, {key(1): pack(-25), key(3): pack(40)}}, 2, 10, "@c[2]: 2\n@c[3]: 4\n\n", ""},
		{"numbers, divided", lang.Map{Name: "@", Key: []lang.Type{num}, Value: num}, tables{{key(1): pack(721), key(2): pack(-25)}}, 5, 10, "@[2]: -2\n@[1]: 72\n\n", `{"type": "map", "data": {"@": {"2": -2, "1": 72}}}` + "\n"},
		{"numbers without sign, divided", lang.Map{Name: "@", Value: lang.Type{Kind: lang.Int, Bytes: 8}}, tables{{key(0): pack(-1)}}, 0, 2, "@: 9223372036854775807\n\n", ""},
		{"what is no number is not divided", lang.Map{Name: "@", Value: lang.Type{Kind: lang.Pointer, Bytes: 8}}, tables{{key(0): pack(0x100)}}, 0, 2, "@: 0x100\n\n", ""},
		{"minimum", lang.Map{Name: "@m", Value: lang.Type{Kind: lang.Min, Signed: true}}, tables{{key(0): pack(3)}, {key(0): pack(-4)}}, 0, 0, "@m: -4\n\n", ""},
		{"minimum without sign", lang.Map{Name: "@m", Value: lang.Type{Kind: lang.Min}}, tables{{key(0): pack(3)}, {key(0): pack(-4)}}, 0, 0, "@m: 3\n\n", ""},
		{"maximum", lang.Map{Name: "@m", Value: lang.Type{Kind: lang.Max, Signed: true}}, tables{{key(0): pack(-3)}, {key(0): pack(-4)}}, 0, 0, "@m: -3\n\n", ""},
		{"average", lang.Map{Name: "@a", Value: lang.Type{Kind: lang.Avg, Signed: true}}, tables{{key(0): pack(2, 10)}, {key(0): pack(3, 20)}}, 0, 0, "@a: 6\n\n", ""},
		{"stats", lang.Map{Name: "@a", Value: lang.Type{Kind: lang.Stats, Signed: true}}, tables{{key(0): pack(2, 10)}, {key(0): pack(3, 20)}}, 0, 0,
			"@a: { .count = 5, .average = 6, .total = 30 }\n\n", `{"type": "stats", "data": {"@a": {"count": 5, "average": 6, "total": 30}}}` + "\n"},
		{"average without sign", lang.Map{Name: "@a", Value: lang.Type{Kind: lang.Avg}}, tables{{key(0): pack(2, -2)}}, 0, 0, "@a: 9223372036854775807\n\n", ""},
		{"stats without sign", lang.Map{Name: "@a", Value: lang.Type{Kind: lang.Stats}}, tables{{key(0): pack(1, -2)}}, 0, 2,
			"@a: { .count = 1, .average = 9223372036854775807, .total = 9223372036854775807 }\n\n", `{"type": "stats", "data": {"@a": {"count": 1, "average": 9223372036854775807, "total": 9223372036854775807}}}` + "\n"},
		{"sums without sign are sorted as such", lang.Map{Name: "@c", Key: []lang.Type{num}, Value: lang.Type{Kind: lang.Sum}}, tables{{key(1): pack(-1), key(2): pack(1)}}, 1, 0,
			"@c[1]: 18446744073709551615\n\n", ""},
		{"intervals that are as far apart as numbers can be", lang.Map{Name: "@s", Value: lang.Type{Kind: lang.TSeries, Signed: true, Step: 1e9, High: 3}},
			tables{{key(0): pack(4, int(-5e18), 1), key(1): pack(5, 0, 1), key(2): pack(6, int(6e18), 1)}}, 0, 0, series, ""},
		{"intervals without sign", lang.Map{Name: "@s", Value: lang.Type{Kind: lang.TSeries, Step: 1e9, High: 3, Agg: lang.Max}},
			tables{{key(0): pack(4, 5, 1), key(1): pack(5, 6, 1)}, {key(0): pack(4, -1, 1), key(1): pack(5, 4, 1)}}, 0, 0,
			unsigned("6", largest, "|"+strings.Repeat(" ", 51)+"* "+largest, "01:46:45 *"+strings.Repeat(" ", 51)+"| 6\n01:46:46 |"+strings.Repeat(" ", 51)+"| -\n"),
			`{"type": "tseries", "data": {"@s": [{"interval_start": "2001-09-09 01:46:44.000000000", "value": 18446744073709551615}, {"interval_start": "2001-09-09 01:46:45.000000000", "value": 6}, {"interval_start": "2001-09-09 01:46:46.000000000", "value": null}]}}` + "\n"},
		{"the smallest number alone", lang.Map{Name: "@s", Value: lang.Type{Kind: lang.TSeries, Step: 1e9, High: 1}}, tables{{key(0): pack(4, 0, 1)}}, 0, 0,
			unsigned("0", "1", "*"+strings.Repeat(" ", 51)+"| 0", ""), ""},
		{"the largest number alone", lang.Map{Name: "@s", Value: lang.Type{Kind: lang.TSeries, Step: 1e9, High: 1}}, tables{{key(0): pack(4, -1, 1)}}, 0, 0,
			unsigned("18446744073709551614", largest, "|"+strings.Repeat(" ", 51)+"* "+largest, ""), ""},
		{"averages of intervals without sign", lang.Map{Name: "@s", Value: lang.Type{Kind: lang.TSeries, Step: 1e9, High: 1, Agg: lang.Avg}}, tables{{key(0): pack(4, -2, 2)}}, 0, 0,
			unsigned("9223372036854775806", "9223372036854775808", "|"+strings.Repeat(" ", 25)+"*"+strings.Repeat(" ", 25)+"| 9223372036854775807", ""), ""},
		{"strings and tuples", lang.Map{Name: "@t", Key: []lang.Type{num}, Value: lang.Type{Kind: lang.TupleOf, Elems: []lang.Type{num, text}}},
			tables{{key(2): pack(1, "x"), key(1): pack(5, "y\"")}}, 0, 0, "@t[1]: (5, y\")\n@t[2]: (1, x)\n\n", `{"type": "map", "data": {"@t": {"1": [5,"y\""], "2": [1,"x"]}}}` + "\n"},
		{"powers of two", lang.Map{Name: "@h", Value: lang.Type{Kind: lang.Hist}},
			tables{{key(0): pack(1), key(2): pack(4)}, {key(2): pack(4), key(3): pack(2), key(12): pack(1)}}, 0, 0,
			"@h:\n" +
				"(..., 0)               1 |@@@@@@                                              |\n" +
				"[0]                    0 |                                                    |\n" +
				"[1]                    8 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n" +
				"[2, 4)                 2 |@@@@@@@@@@@@@                                       |\n" +
				strings.Join([]string{"[4, 8)    ", "[8, 16)   ", "[16, 32)  ", "[32, 64)  ", "[64, 128) ", "[128, 256)", "[256, 512)", "[512, 1K) "},
					"             0 |                                                    |\n") + "             0 |                                                    |\n" +
				"[1K, 2K)               1 |@@@@@@                                              |\n\n", ""},
		{"steps", lang.Map{Name: "@l", Key: []lang.Type{num}, Value: lhist}, tables{{key(7, 1): pack(1), key(7, 2): pack(2), key(7, 3): pack(2)}}, 0, 0,
			"@l[7]:\n" +
				"[0, 1K)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n" +
				"[1K, 2K)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n" +
				"[2K, ...)              2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n",
			`{"type": "hist", "data": {"@l": {"7": [{"min": 0, "max": 1023, "count": 1}, {"min": 1024, "max": 2047, "count": 2}, {"min": 2048, "count": 2}]}}}` + "\n"},
		{"below the steps", lang.Map{Name: "@l", Value: lhist}, tables{{key(0): pack(1)}}, 0, 0,
			"@l:\n(..., 0)               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n", `{"type": "hist", "data": {"@l": [{"max": -1, "count": 1}]}}` + "\n"},
		{"a stack as key", lang.Map{Name: "@", Key: []lang.Type{{Kind: lang.StackID, Bytes: 8}}, Value: num}, tables{{key(1): pack(5)}}, 0, 0, "@[\n    f1+2\n    f3+4\n]: 5\n\n", ""},
		{"a program's stack", lang.Map{Name: "@", Key: []lang.Type{{Kind: lang.StackID, Bytes: 8, User: true}}, Value: num}, tables{{key(1): pack(5)}}, 0, 0, "@[\n    0x12\n    0x34\n]: 5\n\n", ""},
		{"a probe as key", lang.Map{Name: "@", Key: []lang.Type{{Kind: lang.ProbeID, Bytes: 16}}, Value: num}, tables{{key(0, 0): pack(5), key(1, 0x77): pack(6)}}, 0, 0,
			"@[kprobe:vfs.Read]: 5\n@[kprobe:f7]: 6\n\n", ""},
		{"names in their order, not in that of addresses", lang.Map{Name: "@", Key: []lang.Type{{Kind: lang.Symbol, Bytes: 8}, num}, Value: num},
			tables{{key(0x200, 1): pack(5), key(0x10, 2): pack(5), key(0x10, -3): pack(5), key(0x80, 9): pack(4)}}, 0, 0, "@[f8, 9]: 4\n@[f1, -3]: 5\n@[f1, 2]: 5\n@[f20, 1]: 5\n\n", ""},
		{"nothing", lang.Map{Name: "@", Key: []lang.Type{num}, Value: num}, tables{{}}, 0, 0, "\n", `{"type": "map", "data": {"@": {}}}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			show := func(p *Printer) error { return p.Map(&c.m, c.s, c.top, c.div) }
			if got := printed(t, false, show); got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
			if got := printed(t, true, show); c.json != "" && got != c.json {
				t.Errorf("got:\n%swant:\n%s", got, c.json)
			}
		})
	}
}

// TestStructures: all fields are printed, also where nobody has asked for one before, and JSON is JSON.
func TestStructures(t *testing.T) {
	char, short := lang.Type{Kind: lang.String, Bytes: 4}, lang.Type{Kind: lang.Int, Bytes: 2, Signed: true}
	pointer := lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &num}
	color := lang.Type{Kind: lang.Int, Bytes: 4, Enum: &lang.Enum{Name: "color", Names: map[int64]string{1: "RED"}}}
	array := func(of lang.Type, n int) lang.Type {
		return lang.Type{Kind: lang.ArrayOf, Bytes: n * of.Bytes, Elem: &of}
	}
	inner := &lang.Struct{Name: "inner", Bytes: 2, Fields: []lang.StructField{{Name: "n", Type: short}}}
	of := lang.Type{Kind: lang.StructOf, Bytes: 2, To: inner}
	s := &lang.Struct{Name: "outer", Bytes: 40}
	s.Fill = func() {
		s.Fields = []lang.StructField{{Name: "p", Type: pointer}, {Name: "c", Type: color, Offset: 8}, {Name: "name", Type: char, Offset: 12},
			{Name: "all", Type: array(of, 2), Offset: 16}, {Name: "ps", Type: array(pointer, 1), Offset: 24}, {Name: "go", Type: lang.Type{Kind: lang.String, Bytes: 16, Go: true}, Offset: 24}}
	}
	a := &lang.Action{Kind: lang.PrintValue, Args: []lang.Type{{Kind: lang.StructOf, Bytes: 40, To: s}}}
	data := []byte(pack(0x10, 1|int('a')<<32|int('"')<<40, 7|0xffff<<16, 0x20, 3))
	show := func(p *Printer) error { return p.Record(a, data) }
	if got, want := printed(t, false, show), "{ .p = 0x10, .c = RED, .name = a\", .all = [{ .n = 7 },{ .n = -1 }], .ps = [0x20], .go = 0x20 }\n"; got != want {
		t.Errorf("%s want %s", got, want)
	}
	if got, want := printed(t, true, show), `{"type": "value", "data": {"p": 16, "c": 1, "name": "a\"", "all": [{"n": 7},{"n": -1}], "ps": [32], "go": "0x20"}}`+"\n"; got != want {
		t.Errorf("%s want %s", got, want)
	}
}

func TestRecord(t *testing.T) {
	unsigned, word32, symbol := lang.Type{Kind: lang.Int, Bytes: 8}, lang.Type{Kind: lang.Int, Bytes: 4, Signed: true}, lang.Type{Kind: lang.Symbol, Bytes: 8}
	for _, c := range []struct {
		a          lang.Action
		data       []byte
		want, json string
	}{
		{lang.Action{Format: "%d|%5d|%-5d|%05d|%u|100%%\n", Args: []lang.Type{num, num, num, num, num}}, pack(-1, 2, 3, 4, -1), "-1|    2|3    |00004|18446744073709551615|100%\n",
			`{"type": "printf", "data": "-1|    2|3    |00004|18446744073709551615|100%\n"}` + "\n"},
		{lang.Action{Format: "%x %X %#x %o %c %p %llx %x", Args: []lang.Type{num, num, num, num, num, num, num, word32}}, pack(255, 255, 255, 8, int('A'), 16, 10, -1), "ff FF 0xff 10 A 0x10 a ffffffff", ""},
		{lang.Action{Format: "%s|%10s|%-10s|%.2s", Args: []lang.Type{text, text, symbol, text}}, pack("ab", "cd", 0x50, "efg"), "ab|        cd|f5        |ef", ""},
		{lang.Action{Kind: lang.PrintValue, Args: []lang.Type{unsigned}}, pack(-1), "18446744073709551615\n", `{"type": "value", "data": 18446744073709551615}` + "\n"},
		{lang.Action{Kind: lang.PrintValue, Args: []lang.Type{text}}, pack("a\x01\\\xff"), "a\x01\\\xff\n", `{"type": "value", "data": "a\u0001\\` + "\uFFFD" + `"}` + "\n"},
		{lang.Action{Kind: lang.PrintValue, Map: &lang.Map{Name: "@x"}, Args: []lang.Type{num}}, pack(5), "@x: 5\n", `{"type": "map", "data": {"@x": 5}}` + "\n"},
		{lang.Action{Format: "%s", Args: []lang.Type{{Kind: lang.TimeText, Format: "%Y-%m-%d %H:%M:%S.%f %s %% %q"}}}, pack(1_500_000_000), "2001-09-09 01:46:41.500000 1000000001 % %q", ""},
	} {
		show := func(p *Printer) error { return p.Record(&c.a, c.data) }
		if got := printed(t, false, show); got != c.want {
			t.Errorf("%s: got %q, want %q", c.a.Format, got, c.want)
		}
		if got := printed(t, true, show); c.json != "" && got != c.json {
			t.Errorf("%s: got %s, want %s", c.a.Format, got, c.json)
		}
	}
}

// TestReturnAddresses: a call that ends a function, since it never returns, is of that function. The first address of
// a program's stack is none of a call.
func TestReturnAddresses(t *testing.T) {
	p := &Printer{Symbols: symbols{}}
	for _, c := range []struct {
		user bool
		i    int
		addr uint64
		want string
	}{{false, 0, 0x121, "f12+1"}, {false, 1, 0x120, "f11+16"}, {true, 0, 0x120, "0x120"}, {true, 1, 0x120, "0x120"}} {
		if got := p.frame(lang.Type{User: c.user}, c.i, c.addr).String(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestPointsOfSeries: what is exported says whether a value has a sign.
func TestPointsOfSeries(t *testing.T) {
	for _, signed := range []bool{false, true} {
		m := &lang.Map{Name: "@s", Value: lang.Type{Kind: lang.TSeries, Signed: signed, Step: 10, High: 2}}
		got := (&Printer{}).Series(m, tables{{key(0): pack(4, -2, 1), key(1): pack(5, 3, 1)}})
		want := []SeriesPoint{{"@s", 40, -2, !signed}, {"@s", 50, 3, !signed}}
		if len(got) != 2 || *got[0] != want[0] || *got[1] != want[1] {
			t.Errorf("signed %v: %v", signed, got)
		}
	}
}
