package quote

import (
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		`a:b:c`:                               `a|b|c`,
		`"/tmp/co:lon/p":f`:                   `/tmp/co:lon/p|f`,
		`"a\"b:\\":c:"d`:                      `a"b:\|c|d`,
		`x"y:z"w:"\s"`:                        `xy:zw|\s`,
		`f[a:b]`:                              `f[a|b]`,
		``:                                    ``,
		`:`:                                   `|`,
		`"struct { A \"json:\\\"x\\\"\" }":b`: `struct { A "json:\"x\"" }|b`,
	} {
		parts := Split(text, ":", 0)
		for i := range parts {
			parts[i] = Remove(parts[i])
		}
		if got := strings.Join(parts, "|"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := strings.Join(Split("a:b:c:d", ":", 2), "|"); got != "a|b:c:d" {
		t.Error(got)
	}
	if got := strings.Join(Split(`f[a,b],"c,d",e`, ",", 0), "|"); got != `f[a,b]|"c,d"|e` {
		t.Error(got)
	}
	if at, open := Index(`a"b`, ":"); at != -1 || !open {
		t.Error(at, open)
	}
}

// TestBack: whatever is put in quotes is protected, and comes out as it was.
func TestBack(t *testing.T) {
	for _, text := range []string{``, `a`, `"`, `\`, `\"`, `a\`, `a:"b\\":c`, `struct { A "json:\"x\"" }`, `\\"`, "sp ace", `dol$1`} {
		q := Add(text)
		if got := Remove(q); got != text {
			t.Errorf("%s: %s", q, got)
		}
		if at, open := Index(q, `:$ ,`); at >= 0 || open {
			t.Errorf("%s: %d, %v", q, at, open)
		}
		if value, rest, ok := Prefix(q + `+4:"x"`); value != text || rest != `+4:"x"` || !ok {
			t.Errorf("%s: %s, %s, %v", q, value, rest, ok)
		}
		if got := Bare("$1"+q+"$1", func(s string) string { return strings.ReplaceAll(s, "$1", "x") }); got != "x"+q+"x" {
			t.Errorf("%s: %s", q, got)
		}
	}
	for _, text := range []string{``, `a`, `"`, `"a`, `a"b"`, `"\"`} {
		if value, rest, ok := Prefix(text); ok || rest != text || value != "" {
			t.Errorf("%s: %q, %q", text, value, rest)
		}
	}
}
