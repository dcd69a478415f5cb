package sysctl

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// fresh gives the test a registry of its own.
func fresh(t *testing.T) {
	t.Helper()
	old := registry.parameters
	registry.parameters = nil
	t.Cleanup(func() { registry.parameters = old })
}

func TestParametersAreFoundByAnySpelling(t *testing.T) {
	fresh(t)
	b := NewBool("debug.kprobes-optimization", true, "doc")
	for _, name := range []string{"debug.kprobes-optimization", "debug.kprobes_optimization", "debug/kprobes_optimization"} {
		if k, err := Lookup(name); k != b || err != nil {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}
	if _, err := Lookup("debug"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("unknown: %v", err)
	}
}

func TestBadValueIsRefusedAndChangesNothing(t *testing.T) {
	fresh(t)
	b := NewBool("a.bool", true, "")
	i := NewRange("a.int", 5, 0, 10, "")
	s := NewString("a.string", "x", "", func(s string) error {
		if s == "" {
			return fmt.Errorf("empty: %w", syscall.EINVAL)
		}
		return nil
	})
	for _, tt := range []struct {
		k    Parameter
		text string
	}{{b, "2"}, {b, ""}, {b, "yes"}, {i, "11"}, {i, "-1"}, {i, "x"}, {i, ""}, {s, ""}, {s, "a\nb"}} {
		if err := tt.k.Set(tt.text); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s = %q: %v", tt.k.Name(), tt.text, err)
		}
		if tt.k.String() != tt.k.Default() {
			t.Errorf("%s = %q: is now %s", tt.k.Name(), tt.text, tt.k)
		}
	}
}

func TestGoodValuesAreTaken(t *testing.T) {
	fresh(t)
	b := NewBool("a.bool", false, "")
	i := NewInt("a.int", 5, "")
	NewString("a.string", "x", "", nil)
	for _, tt := range []struct{ name, text, want string }{
		{"a.bool", "y", "1"}, {"a.bool", "n", "0"}, {"a.bool", " 1\n", "1"}, {"a.bool", "0", "0"},
		{"a.int", "-7", "-7"}, {"a.int", "0x10", "16"}, {"a.string", "two words", "two words"},
	} {
		if err := Set(tt.name, tt.text); err != nil {
			t.Errorf("%s = %q: %v", tt.name, tt.text, err)
		}
		if k, _ := Lookup(tt.name); k.String() != tt.want {
			t.Errorf("%s = %q: is now %s", tt.name, tt.text, k)
		}
	}
	if b.Get() || i.Get() != 16 {
		t.Errorf("Get: %v, %v", b.Get(), i.Get())
	}
}

func TestHookSeesChangesOnlyAndCanRefuse(t *testing.T) {
	fresh(t)
	var seen []bool
	b := NewBool("a.b", true, "")
	b.OnChange(func(v bool) error {
		if b.Get() != v {
			t.Error("the hook comes before the change")
		}
		seen = append(seen, v)
		return nil
	})
	for _, text := range []string{"1", "0", "0", "1"} {
		if err := b.Set(text); err != nil {
			t.Error(err)
		}
	}
	if fmt.Sprint(seen) != "[false true]" {
		t.Errorf("saw %v", seen)
	}
	i := NewInt("a.i", 1, "").OnChange(func(int64) error { return syscall.EBUSY })
	if err := i.Set("2"); !errors.Is(err, syscall.EBUSY) || i.Get() != 1 {
		t.Errorf("refused: %v, now %d", err, i.Get())
	}
}

func TestAllIsSorted(t *testing.T) {
	fresh(t)
	NewInt("kernel.z", 1, "")
	NewBool("debug.a", true, "")
	NewString("kernel.hostname", "sonde", "", nil)
	var lines []string
	for _, k := range All() {
		lines = append(lines, Line(k))
	}
	if got, want := strings.Join(lines, "; "), "debug.a = 1; kernel.hostname = sonde; kernel.z = 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRegisteringTwicePanics(t *testing.T) {
	fresh(t)
	NewBool("a.b-c", true, "")
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewBool("a.b_c", true, "")
}

func TestConcurrentSetsLeaveHookAndValueAgreeing(t *testing.T) {
	fresh(t)
	var last bool
	b := NewBool("a.b", false, "").OnChange(func(v bool) error { last = v; return nil })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				b.Store(i%2 == 0)
			}
		})
	}
	wg.Wait()
	if b.Get() != last {
		t.Error("the hook saw another last value")
	}
}

// TestQuoteIsShort: an error does not repeat all that was written.
func TestQuoteIsShort(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `""`,
		"a\n":                        `"a\n"`,
		strings.Repeat("x", 64):      `"` + strings.Repeat("x", 64) + `"`,
		strings.Repeat("é", 100_000): `"` + strings.Repeat("é", 32) + `"… (200000 bytes)`,
	} {
		if got := Quote(text); got != want {
			t.Errorf("%.80q: %.200s", text, got)
		}
	}
}
