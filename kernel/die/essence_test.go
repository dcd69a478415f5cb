package die

import (
	"strings"
	"testing"
)

// TestAppendEssence: all that tells where and why a kernel has ended.
func TestAppendEssence(t *testing.T) {
	room := make([]byte, 0, 300)
	got := ""
	if allocs := testing.AllocsPerRun(1, func() {
		got = string(appendEssence(room, 0xab, 0xffffffff84001234, 0xffffffc000123000, []uintptr{0xffffffff84000001, 0xffffffff840002}, "#UD"))
	}); allocs > 1 { // the string
		t.Errorf("it allocates %v times", allocs)
	}
	if want := "sonde ab\nffffffff84001234 ffffffc000123000\n84000001 ff840002\n#UD"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSaid: the runtime's last reason is kept, whatever it prints after it; a long one is cut.
func TestSaid(t *testing.T) {
	var s said
	say := func(text string) {
		for i := range len(text) {
			s.put(text[i])
		}
	}
	if say("note\npanic"); s.text() != "" {
		t.Errorf("%q before there is a reason", s.text())
	}
	say(": first\n\tpanic: inside\n\npanic: second\n\ngoroutine 1 [running]:\n")
	if s.text() != "panic: second" {
		t.Errorf("%q, want the last reason", s.text())
	}
	say("fatal error: " + strings.Repeat("x", 200) + "\nexit\n")
	if want := "fatal error: " + strings.Repeat("x", len(s.line)-len("fatal error: ")); s.text() != want {
		t.Errorf("%q, want it cut", s.text())
	}
}
