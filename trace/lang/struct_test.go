package lang

import (
	"fmt"
	"testing"
)

// TestLayouts: structures lie in memory as C's compilers lay them out.
func TestLayouts(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`struct s { char a; int b; short c; }`, "a 0 b 4 c 8: 12"},
		{`struct s { char a; int b; short c; } __attribute__((packed))`, "a 0 b 1 c 5: 7"},
		{`struct p { char a; long b; } __attribute__((packed)); struct s { char c; struct p x; char d; }`, "c 0 x 1 d 10: 11"},
		{`struct s { int a:3; int b:29; int c:1; }`, "a 0.0 b 0.3 c 4.0: 8"},
		{`struct s { int a:3; int b:30; char c; }`, "a 0.0 b 4.0 c 8: 12"},
		{`struct s { int a:3; long b:5; char c; }`, "a 0.0 b 0.3 c 1: 8"},
		{`struct s { char a; long b:3; int c:7; int d; }`, "a 0 b 0.8 c 0.11 d 4: 8"},
		{`union s { char a; long b:3; }`, "a 0 b 0.0: 8"},
	} {
		s, err := Parse("stdin", c.script+" BEGIN { }")
		if err != nil {
			t.Fatal(err)
		}
		is, got := s.declared("s"), ""
		for i, f := range is.Fields {
			if got += fmt.Sprintf("%s%s %d", pick(i > 0, " ", ""), f.Name, f.Offset); f.Bits > 0 {
				got += fmt.Sprintf(".%d", f.Shift)
			}
		}
		if got += fmt.Sprintf(": %d", is.Bytes); got != c.want {
			t.Errorf("%s: %s; want %s", c.script, got, c.want)
		}
	}
}
