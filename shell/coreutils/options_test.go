package coreutils

import (
	"fmt"
	"strings"
	"testing"
)

// TestOptions: they may stand after operands, unless these are a command with options of its own.
func TestOptions(t *testing.T) {
	for _, c := range []struct{ args, known, opts, operands string }{
		{"-a x -n 5 y", "an:", "map[a:a n:5]", "[x y]"},
		{"x -an5 -- -y -a", "an:", "map[a:a n:5]", "[x -y -a]"},
		{"-a x -n 5", "+an:", "map[a:a]", "[x -n 5]"},
		{"-aa - -a", "an:", "map[a:aaa]", "[-]"},
		{"x -n", "an:", "", "option -n needs a value"},
		{"x -b", "an:", "", "unknown option -b"},
	} {
		opts, operands, err := Options(strings.Fields(c.args), c.known)
		got, rest := fmt.Sprint(byName(opts)), fmt.Sprint(operands)
		if err != nil {
			got, rest = "", err.Error()
		}
		if got != c.opts || rest != c.operands {
			t.Errorf("%s: %s %s, want %s %s", c.args, got, rest, c.opts, c.operands)
		}
	}
}

func byName(opts map[byte]string) map[string]string {
	names := map[string]string{}
	for o, value := range opts {
		names[string(o)] = value
	}
	return names
}
