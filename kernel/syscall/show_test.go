package syscall

import "testing"

// TestEveryParameterIsShown: who adds a call says, in kinds, how its parameters are
// shown.
func TestEveryParameterIsShown(t *testing.T) {
	for _, c := range table {
		for _, p := range c.params() {
			if _, ok := wayOf(c.Name, p); !ok {
				t.Errorf("%s: parameter %s is not in kinds (show_kinds.go)", c.Name, p)
			}
		}
	}
}

// TestKindsAreUsed: a line for a call that has no such parameter is a mistake.
func TestKindsAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, c := range table {
		for _, p := range c.params() {
			used[p], used[c.Name+"."+p] = true, true
		}
	}
	for _, p := range []string{"a", "b", "c", "d", "e", "f"} { // of calls that are not there
		used[p] = true
	}
	for name := range kinds() {
		if !used[name] {
			t.Errorf("kinds has %s, which no call has", name)
		}
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"a\"b\\\n\t":      `"a\"b\\\n\t"`,
		"\x7fELF\x02\x00": `"\177ELF\2\0"`,
		"\x001\x009":      `"\0001\09"`,
	} {
		if got := quoted([]byte(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
