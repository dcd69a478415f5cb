package main

import (
	"bytes"
	"io"
	"strings"
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

// TestOnePipe: what 2>&1 sends into one pipe shares no line, either.
func TestOnePipe(t *testing.T) {
	runsBeside(t)
	cmd := launch(t, "-c", "echo -n unfinished; sleep 1; insmod kprobe_example; sleep 1; echo")
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "unfinished\n[") || !strings.Contains(text, "] kprobe registered: ") {
		t.Errorf("%v\n%s", err, out)
	}
}
