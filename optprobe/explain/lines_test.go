package explain

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"sonde/internal/schema"
)

func TestLinesFitTheSchema(t *testing.T) {
	s, err := schema.Read("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	source := Source{Function: "sonde/kernel/vfs.Read", File: "sonde/kernel/vfs/io.go", First: 32, Last: 47, Lines: []Line{
		{Number: 32, Copies: 1, Places: []Instruction{{Symbol: "sonde/kernel/vfs.Read", Way: Jump, Hit: Breakpoint, Args: []string{`f *vfs.File AX`, `"q"`}}}},
		{Number: 40, Copies: 2, Places: []Instruction{{Symbol: "a", Offset: 7, Way: Breakpoint, Why: "a loop"}, {Symbol: "b", Offset: 9, Why: "it handles traps"}}},
		{Number: 41, Copies: 1},
	}}
	for _, s1 := range []Source{source, {File: "x.go", First: 1, Last: 1}} {
		var b bytes.Buffer
		if err := s1.WriteJSON(&b, strconv.Quote); err != nil {
			t.Fatal(err)
		}
		if why := s.Fits(b.Bytes()); why != "" || strings.Count(b.String(), "\n") != 1 {
			t.Errorf("%s: %s", why, b.String())
		}
	}
}
