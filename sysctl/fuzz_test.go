package sysctl

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// FuzzSet: a text is refused and changes nothing, or the parameter has it, and takes what it shows then.
func FuzzSet(f *testing.F) {
	for _, text := range []string{"0", "1", " 1\n", "-5", "+7", "0x10", "9223372036854775808", "", "a\nb", "\xff", "1_0"} {
		f.Add(text)
	}
	old := registry.parameters
	registry.parameters = nil
	f.Cleanup(func() { registry.parameters = old })
	parameters := []Parameter{
		NewBool("fuzz.bool", true, ""),
		NewRange("fuzz.int", 5, -10, 10, ""),
		NewInt("fuzz.any-int", 5, ""),
		NewString("fuzz.string", "x", "", func(s string) error {
			if strings.Contains(s, "y") {
				return syscall.EINVAL
			}
			return nil
		}),
		NewFact("fuzz.fact", func() string { return "a fact" }, ""),
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, k := range parameters {
			before := k.String()
			err := k.Set(text)
			now := k.String()
			_, fact := k.(*Fact)
			switch {
			case err != nil && now != before:
				t.Errorf("%s = %q: %v, but it has changed from %q to %q", k.Name(), text, err, before, now)
			case err != nil && !fact && !errors.Is(err, syscall.EINVAL):
				t.Errorf("%s = %q: %v, want EINVAL", k.Name(), text, err)
			case err == nil && fact:
				t.Errorf("%s = %q is accepted", k.Name(), text)
			case err == nil && (k.Set(now) != nil || k.String() != now):
				t.Errorf("%s = %q shows %q, and then %q", k.Name(), text, now, k)
			case strings.ContainsAny(now, "\n\x00"):
				t.Errorf("%s = %q: shows more than a line: %q", k.Name(), text, now)
			}
		}
		if _, err := Lookup(text); err != nil && !errors.Is(err, syscall.ENOENT) {
			t.Errorf("Lookup(%q): %v", text, err)
		}
	})
}
