package cmdline

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []string
	}{
		{"empty", "", nil},
		{"only space", " \t\n\r\v\f", nil},
		{"plain", "a b=c  d\n", []string{"a", "b=c", "d"}},
		{"quoted value", `x="a b" y`, []string{`x="a b"`, "y"}},
		{"quoted word", `"x=a b" y`, []string{`"x=a b"`, "y"}},
		{"quote in the middle", `x=a" "b y`, []string{`x=a" "b`, "y"}},
		{"open quote takes the rest", `x="a b -- c`, []string{`x="a b -- c`}},
		{"lone quotes", `"" "`, []string{`""`, `"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for w := (Words{c.line}); ; {
				word, ok := w.Next()
				if !ok {
					break
				}
				got = append(got, word)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestGet(t *testing.T) {
	const line = `quiet log-level=7 name="a b" "path=/x y" empty= eq=a=b q="" a.b_c=1 ` +
		`twice=1 twice=2 open="z w -- late=1`
	for _, c := range []struct {
		key, want string
		ok        bool
	}{
		{"quiet", "", true}, {"log_level", "7", true}, {"log-level", "7", true},
		{"name", "a b", true}, {"path", "/x y", true}, {"empty", "", true},
		{"eq", "a=b", true}, {"q", "", true}, {"a.b-c", "1", true}, {"twice", "2", true},
		{"open", "z w -- late=1", true}, {"late", "", false},
		{"nam", "", false}, {"names", "", false}, {"", "", false}, {"QUIET", "", false},
	} {
		if v, ok := Get(line, c.key); v != c.want || ok != c.ok {
			t.Errorf("Get(%q) = %q, %v; want %q, %v", c.key, v, ok, c.want, c.ok)
		}
	}
	if _, ok := Get("a -- b=1", "b"); ok {
		t.Error("a word of the script was taken for a parameter")
	}
	if v, ok := Get(`x="`, "x"); v != "" || !ok {
		t.Error("lone quote")
	}
}

func TestScript(t *testing.T) {
	for _, c := range []struct {
		line, want string
		ok         bool
	}{
		{"a b", "", false}, {"", "", false}, {"--", "", true}, {"a --  ", "", true},
		{"a -- ls  -l; echo \"x -- y\"", "ls  -l; echo \"x -- y\"", true},
		{"a -- b -- c", "b -- c", true}, {"a --b --- c", "", false},
		{`a="b -- c" -- d`, "d", true}, {`"--" -- d`, "d", true}, {"-- x", "x", true},
	} {
		if s, ok := Script(c.line); s != c.want || ok != c.ok {
			t.Errorf("Script(%q) = %q, %v; want %q, %v", c.line, s, ok, c.want, c.ok)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	b := []byte(`a b="c d" e-f=1 -- run`)
	line := string(b)
	if n := testing.AllocsPerRun(100, func() {
		Get(line, "b")
		Get(line, "e_f")
		Script(line)
	}); n != 0 {
		t.Fatal(n)
	}
}

func FuzzSubstringsOnly(f *testing.F) {
	f.Add(`a b="c d" -- e`, "b")
	f.Fuzz(func(t *testing.T, line, key string) {
		v, _ := Get(line, key)
		s, _ := Script(line)
		if len(v) > len(line) || len(s) > len(line) {
			t.Fatal("result longer than the input")
		}
	})
}
