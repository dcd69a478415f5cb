package lang

import (
	"fmt"
	"strings"
	"testing"

	"sonde/internal/quick"
)

// TestHostileScripts: a script of a few lines may not take all memory, or forever.
func TestHostileScripts(t *testing.T) {
	chain := func(n int, first, format string) string {
		var b strings.Builder
		b.WriteString(first)
		for i := range n {
			fmt.Fprintf(&b, format, i+1, i, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, script, want string }{
		{"macros", `macro m(a) { a + a } BEGIN { @ = ` + strings.Repeat("m(", 25) + "1" + strings.Repeat(")", 25) + ` }`, "too large"},
		{"choices", `BEGIN { @ = ` + strings.Repeat("(", 25) + "1" + strings.Repeat(" ?: 2)", 25) + ` }`, "too large"},
		{"empty loops", `BEGIN { unroll(100) { unroll(100) { unroll(100) { unroll(60) { } } } } }`, "longer than"},
		{"functions", `BEGIN { @m[1] = 1; unroll(50) { for ($kv : @m) { unroll(100) { unroll(100) { $x = 1 } } } } }`, "longer than"},
		{"many points", strings.Repeat("kprobe:f,", 1000) + `kprobe:f { unroll(100) { unroll(50) { $x = 1 } } }`, "longer than"},
		{"tuples", `BEGIN { ` + chain(26, "$t0 = (1, 1); ", "$t%d = ($t%d, $t%d); ") + ` }`, "more than"},
		{"unknown tuples", `BEGIN { ` + chain(26, "$t0 = (@a, @a); ", "$t%d = ($t%d, $t%d); ") + `@a = 1; }`, "more than"},
		{"empty structs", chain(30, "struct s0 { };", "struct s%d { struct s%d a; struct s%d b; };") + ` BEGIN { }`, ""},
		{"arrays", `struct a { long x[1][1048576][1048576][1048576]; } BEGIN { @ = ((struct a *)1)->x[0][1][0][0]; }`, "at most"},
		{"cast to empty struct", `struct s { } BEGIN { $x = (struct s[])5; }`, "cannot be made"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			quick.Do(t, func() {
				var s *Script
				if s, err = Parse("stdin", c.script); err == nil {
					_, err = Compile(s, &Options{Resolver: anywhere{}, CPUs: 4})
				}
			})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.300v, want %q", err, c.want)
			}
		})
	}
}
