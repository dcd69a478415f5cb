package main

import (
	"bytes"
	"io"
	"testing"
)

func TestLogAndOutputNeverShareALine(t *testing.T) {
	var shown bytes.Buffer
	out, console := together(&shown)
	for _, part := range []struct {
		to   io.Writer
		text string
	}{
		{out, "one\n"}, {console, "[0.1] a\n[0.2] "}, {out, "tw"}, {console, "b\n"}, {out, "o\n"}, {console, "[0.3] c\n"}, {console, "[0.4]"},
	} {
		if n, err := io.WriteString(part.to, part.text); n != len(part.text) || err != nil {
			t.Fatal(n, err)
		}
	}
	console.flush()
	want := "one\n[0.1] a\ntw\n[0.2] b\no\n[0.3] c\n[0.4]\n"
	if shown.String() != want {
		t.Errorf("%q, want %q", &shown, want)
	}
}
