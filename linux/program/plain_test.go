package program

import (
	"strings"
	"testing"
)

// TestPlain: names of C++ and Rust are as in the source; others, and what only looks like one, stay as they are, and
// none gets long.
func TestPlain(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN2ns2Sq4areaEi": "ns::Sq::area(int)",
		"_ZN4core3ptr13drop_in_place17h0123456789abcdefE": "core::ptr::drop_in_place",
		"_RNvCs1234_7mycrate3foo":                         "mycrate::foo",
		"_ZN2ns2Sq4areaEi@VERS_1":                         "ns::Sq::area(int)@VERS_1",
		"main":                                            "main", "": "", "_Z": "_Z", "_Zone": "_Zone", "_ZN2ns": "_ZN2ns",
		"_ZN" + strings.Repeat("1a", maxMangled) + "E": "_ZN" + strings.Repeat("1a", maxMangled) + "E",
	} {
		if got := Plain(name); got != want {
			t.Errorf("%.50q is %.80q, want %.80q", name, got, want)
		}
	}
	bomb := "_Z1fI" + strings.Repeat("S_I", 40) + strings.Repeat("E", 41) + "vv"
	for range 40 {
		bomb = strings.Replace(bomb, "S_I", "St4pairIS_S_EI", 1)
	}
	if n := len(Plain(bomb)); n > 1<<maxPlain+len(bomb) {
		t.Errorf("a name of %d bytes became one of %d", len(bomb), n)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("_ZN2ns2Sq4areaEi")
	f.Fuzz(func(t *testing.T, name string) {
		if n := len(Plain(name)); n > max(len(name), 1<<maxPlain+64) {
			t.Errorf("%q became %d bytes", name, n)
		}
	})
}
