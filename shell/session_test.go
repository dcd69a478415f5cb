package shell

import (
	"io"
	"strings"
	"testing"
)

func TestSessionShowsPromptEchoAndOutput(t *testing.T) {
	var out buffer
	s := New(fakeMachine(), &out)
	s.Symbols = func(prefix string) []string { return []string{"vfs.Read", "vfs.Write"} }
	if err := s.Interact(strings.NewReader("ec\thi\rcat /pr\tver\t\rinsmod kp\tsy\tvfs.R\t\r\x1b[A\x03history\r\x04"), &out); err != nil {
		t.Error(err)
	}
	want := "sonde# echo hi\nhi\nsonde# cat /proc/version \nsonde version test\n" +
		"sonde# insmod kprobe_example symbol=vfs.Read \n" +
		"sonde# \r\x1b[J" + "sonde# insmod kprobe_example symbol=vfs.Read ^C\n" +
		"sonde# history\n    1  echo hi\n    2  cat /proc/version \n    3  insmod kprobe_example symbol=vfs.Read \n    4  history\nsonde# \n"
	if got := out.String(); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	runScript("rmmod kprobe_example")
}

func TestInterruptStopsTheCommandThatRuns(t *testing.T) {
	r, w := io.Pipe()
	var out buffer
	s := New(fakeMachine(), &out)
	started := make(chan struct{})
	s.Register(&Command{Name: "started", Run: func(*Context, []string) error { close(started); return nil }})
	done := make(chan error)
	go func() { done <- s.Interact(r, &out) }()
	io.WriteString(w, "started; sleep 1000; echo not this\r")
	<-started
	io.WriteString(w, "\x03")
	io.WriteString(w, "echo $?\r\x04")
	if err := <-done; err != nil {
		t.Error(err)
	}
	got := out.String()
	if strings.Contains(got, "\nnot this") || !strings.Contains(got, "\n130\n") {
		t.Errorf("got %q", got)
	}
}

// TestInterruptRightBehindTheLine: ^C before the command has started ends it, too.
func TestInterruptRightBehindTheLine(t *testing.T) {
	var out buffer
	in := strings.NewReader("sleep 1000\r\x03echo $?\r\x04")
	if err := New(fakeMachine(), &out).Interact(in, &out); err != nil {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, "^C\nsonde# echo $?\n130\n") {
		t.Errorf("got %q", got)
	}
}

func TestEndOfTheTerminalEndsTheSession(t *testing.T) {
	var out buffer
	session := NewSession(New(fakeMachine(), &out), strings.NewReader("echo a"), &out)
	if err := session.Run(); err != nil {
		t.Error(err)
	}
	if err := session.Run(); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestCompletion(t *testing.T) {
	s := New(fakeMachine(), io.Discard)
	s.Symbols = func(prefix string) []string { return []string{"vfs.(*File).Read", "vfs.Read", "main.main"} }
	tests := []struct {
		text, want string
		start      int
	}{
		{"unam", "uname", 0},
		{"true; unam", "uname", 6},
		{"echo a | gr", "grep", 9},
		{"cat /pro", "proc/", 5},
		{"cat /proc/v", "version", 10},
		{"echo 1 > /sys/k", "kernel/", 14},
		{"echo 1 >/sys/k", "kernel/", 13},
		{"insmod k", "kprobe_example", 7},
		{"insmod kprobe_example ", "name= symbol=", 22},
		{"insmod kprobe_example symbol=vfs.", "vfs.(*File).Read vfs.Read", 29},
		{"sysctl debug.k", "debug.kprobes-optimization", 7},
		{"help unam", "uname", 5},
		{"echo main.m", "main.main", 5},
		{"cat /nope/x", "", 11},
	}
	for _, tt := range tests {
		start, got := s.complete(tt.text, len(tt.text))
		if strings.Join(got, " ") != tt.want || tt.want != "" && start != tt.start {
			t.Errorf("%q: got %q from %d, want %q from %d", tt.text, got, start, tt.want, tt.start)
		}
	}
}
