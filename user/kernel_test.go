package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sonde/user/tools"
)

// TestFilesOfBtAreLocated: names of files become absolute, and nothing else does.
func TestFilesOfBtAreLocated(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(here, name) }
	for _, c := range []struct{ args, want []string }{
		{[]string{"-e", "BEGIN { }", "x"}, []string{"-e", "BEGIN { }", "x"}},
		{[]string{"-eBEGIN { }", "x"}, []string{"-eBEGIN { }", "x"}},
		{[]string{"-q", "main.go", "y"}, []string{"-q", in("main.go"), "y"}},
		{[]string{"-o", "out", "-qc", "cmd", "main.go", "-", ""}, []string{"-o", in("out"), "-qc", "cmd", in("main.go"), "-", ""}},
		{[]string{"-oout", "--output=out", "--format", "json", "-"}, []string{"-o", in("out"), "-o", in("out"), "--format", "json", "-"}},
		{[]string{"-lv", "kprobe:*"}, []string{"-lv", "kprobe:*"}},
		{[]string{"-e"}, []string{"-e"}},
		{nil, nil},
	} {
		got, input, err := located(strings.NewReader("text"), c.args)
		if err != nil || !slices.Equal(got, c.want) || (input != "") != (len(c.args) > 0 && c.args[len(c.args)-1] == "-") {
			t.Errorf("%q: %q, %q, %v; want %q", c.args, got, input, err, c.want)
		}
	}
}

func TestAnswersOfTheKernel(t *testing.T) {
	var out, errs bytes.Buffer
	s := tools.Streams{Out: &out, Err: &errs}
	answer := "\x01\x00\x00\x00\x02\x00\x00\x00hi\x02\x00\x00\x00\x03\x00\x00\x00bad\x01\x00\x00\x00\x01\x00\x00\x00!\x03\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00"
	if err := answered(s, strings.NewReader(answer)); err != tools.Status(5) || out.String() != "hi!" || errs.String() != "bad" {
		t.Errorf("%v, %q, %q", err, &out, &errs)
	}
	if err := answered(s, strings.NewReader(answer[:9])); err == nil {
		t.Error("half an answer is none")
	}
}
