package story

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const sample = `# stories about echo
NAME echo writes to files
RUN echo hello > /tmp/x
	cat /tmp/x
RUN cat /tmp/x
EXPECT ^hello$
EXPECT ^hello$
EXPECT_NOT error
EXPECT_LOG booted

NAME failure
# a comment within
RUN false
STATUS 1
SMP 4
MACHINE microvm
MEM 64M
APPEND quiet debug
ALONE it fails
`

func TestParse(t *testing.T) {
	stories, err := Parse("echo.story", sample)
	if err != nil || len(stories) != 2 {
		t.Fatal(stories, err)
	}
	s := stories[0]
	if s.Name != "echo writes to files" || s.Line != 2 || s.Script != "echo hello > /tmp/x\ncat /tmp/x\ncat /tmp/x" {
		t.Errorf("%+v", s)
	}
	if len(s.Expect) != 2 || len(s.ExpectNot) != 1 || len(s.ExpectLog) != 1 || s.Status != 0 {
		t.Errorf("%+v", s)
	}
	s = stories[1]
	if s.Status != 1 || s.SMP != 4 || s.Machine != "microvm" || s.Memory != "64M" || s.Append != "quiet debug" || s.Alone != "it fails" {
		t.Errorf("%+v", s)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ text, where, says string }{
		{"RUN ls\n", "f:1", "RUN before NAME"},
		{"NAME a\nRUN ls\n\nEXPECT x\n", "f:4", "EXPECT before NAME"},
		{"NAME a\n", "f:1", "no RUN"},
		{"NAME\nRUN ls\n", "f:1", "no NAME"},
		{"NAME a\nRUN ls\n\nNAME a\nRUN ls\n", "f:4", "used before"},
		{"NAME a\nRUN ls\nEXPECT (\n", "f:3", "missing closing"},
		{"NAME a\nRUN ls\nSTATUS x\n", "f:3", "invalid syntax"},
		{"NAME a\nRUN ls\nHOPE x\n", "f:3", "HOPE"},
		{"NAME a\nRUN\n", "f:2", "without a value"},
		{"NAME a\n  ls\n", "f:2", "only RUN"},
	} {
		_, err := Parse("f", c.text)
		if !errors.Is(err, ErrSyntax) || !strings.HasPrefix(err.Error(), c.where) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestCheck(t *testing.T) {
	stories, err := Parse("f", "NAME a\nRUN x\nEXPECT ^one$\nEXPECT ^two$\nEXPECT_NOT bad\nEXPECT_LOG up\nSTATUS 3\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, out, log string
		status         int
		says           []string
	}{
		{"all right", "zero\none\nmore\ntwo\n", "x up\r\n", 3, nil},
		{"carriage returns", "one\r\ntwo\r\n", "up", 3, nil},
		{"wrong order", "two\none\n", "up", 3, []string{"^two$: no such line behind the line for ^one$"}},
		{"one line for two", "one two\n", "up", 3, []string{"EXPECT ^one$"}},
		{"forbidden", "one\ntwo\nbad\n", "up", 3, []string{`EXPECT_NOT bad: "bad"`}},
		{"console", "one\ntwo\n", "", 3, []string{"EXPECT_LOG up"}},
		{"status", "one\ntwo\n", "up", 0, []string{"STATUS is 0, want 3"}},
	} {
		wrong := stories[0].Check(c.out, c.log, c.status)
		if len(wrong) != len(c.says) {
			t.Errorf("%s: %q", c.name, wrong)
			continue
		}
		for i := range wrong {
			if !strings.Contains(wrong[i], c.says[i]) {
				t.Errorf("%s: %q does not say %q", c.name, wrong[i], c.says[i])
			}
		}
	}
}

func TestWordsOfTheCaller(t *testing.T) {
	const text = "NAME a\nRUN true\nPOINTS 2\nWANT x y\nWANT z\n"
	s, err := Parse("f", text, "POINTS", "WANT")
	if err != nil || !slices.Equal(s[0].More["WANT"], []string{"x y", "z"}) || s[0].More["POINTS"][0] != "2" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Parse("f", text, "WANT"); !errors.Is(err, ErrSyntax) {
		t.Errorf("POINTS is a word of nobody: %v", err)
	}
	if _, err := Parse("f", "NAME a\nRUN true\nWANT\n", "WANT"); !errors.Is(err, ErrSyntax) {
		t.Errorf("WANT without a value: %v", err)
	}
}
