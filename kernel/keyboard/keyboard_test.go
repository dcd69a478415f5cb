package keyboard

import (
	"errors"
	"syscall"
	"testing"
)

func typed(k *Keyboard, codes ...byte) (s string) {
	for _, c := range codes {
		s += k.Code(c)
	}
	return s
}

func TestCodes(t *testing.T) {
	for _, c := range []struct {
		name, layout string
		codes        []byte
		want         string
	}{
		{"letters, released", "us", []byte{0x26, 0xa6, 0x1f, 0x9f, 0x1c, 0x9c}, "ls\r"},
		{"shift", "us", []byte{0x2a, 0x1e, 0x9e, 0xaa, 0x1e, 0x36, 0x02, 0xb6, 0x02}, "Aa!1"},
		{"caps lock is for letters", "us", []byte{0x3a, 0xba, 0x1e, 0x02, 0x2a, 0x1e, 0x02, 0xaa, 0x3a, 0x1e}, "A1a!a"},
		{"control", "us", []byte{0x1d, 0x2e, 0x20, 0x1a, 0x39, 0x9d, 0x2e}, "\x03\x04\x1b\x00c"},
		{"the right control key", "us", []byte{0xe0, 0x1d, 0x2e, 0xe0, 0x9d, 0x2e}, "\x03c"},
		{"arrows and others", "us", []byte{0xe0, 0x48, 0xe0, 0xc8, 0xe0, 0x53, 0xe0, 0x47, 0x48}, "\x1b[A\x1b[3~\x1b[H8"},
		{"shift that comes with an arrow", "us", []byte{0xe0, 0x2a, 0xe0, 0x4b, 0xe0, 0xcb, 0xe0, 0xaa, 0x1e}, "\x1b[Da"},
		{"page up, alone and with shift", "us", []byte{0xe0, 0x49, 0xe0, 0xc9, 0x2a, 0xe0, 0x49, 0xe0, 0x51, 0xaa, 0xe0, 0x51}, "\x1b[5~" + ScrollUp + ScrollDown + "\x1b[6~"},
		{"keypad", "us", []byte{0x47, 0x37, 0x4a, 0xe0, 0x35, 0xe0, 0x1c}, "7*-/\r"},
		{"backspace, tab, escape", "us", []byte{0x0e, 0x0f, 0x01}, "\x7f\t\x1b"},
		{"backslash and its neighbours", "us", []byte{0x2b, 0x2c, 0x29, 0x28, 0x35, 0x56}, `\z` + "`'/\\"},
		{"German", "de", []byte{0x15, 0x2c, 0x1a, 0x2a, 0x08, 0xaa, 0x35, 0x56}, "zyü/-<"},
		{"German, right Alt", "de", []byte{0xe0, 0x38, 0x10, 0x08, 0x56, 0x1e, 0xe0, 0xb8, 0x10}, "@{|aq"},
		{"right Alt is nothing in America", "us", []byte{0xe0, 0x38, 0x10}, "q"},
		{"British", "gb", []byte{0x2a, 0x04, 0x03}, `£"`},
		{"function keys and nonsense", "us", []byte{0x3b, 0x44, 0x57, 0x7f, 0xff, 0x00, 0x80, 0x46}, ""},
	} {
		var k Keyboard
		if err := k.SetLayout(c.layout); err != nil {
			t.Fatal(err)
		}
		if got := typed(&k, c.codes...); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestEveryASCIICharacterCanBeTyped, in every layout.
func TestEveryASCIICharacterCanBeTyped(t *testing.T) {
	for i := range layouts {
		l := layouts[i].layout()
		have := map[rune]bool{}
		for key := range l.plain {
			have[l.plain[key]], have[l.shifted[key]], have[l.right[key]] = true, true, true
		}
		for c := ' '; c < 0x7f; c++ {
			if !have[c] {
				t.Errorf("%s: no %q", layouts[i].name, c)
			}
		}
	}
}

func TestUnknownLayout(t *testing.T) {
	var k Keyboard
	k.SetLayout("us")
	if err := k.SetLayout("xx"); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
	if got := typed(&k, 0x1e); got != "a" {
		t.Errorf("%q", got)
	}
}
