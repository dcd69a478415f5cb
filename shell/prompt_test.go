package shell

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCommandsOfTheShellStop: ^Z stops what they print, fg and bg continue with it.
func TestCommandsOfTheShellStop(t *testing.T) {
	u := newUser(t)
	u.enter("x=1; while :; do echo tick; x=$((x+1)); sleep 0.01; done")
	u.see("tick\ntick\n")
	io.WriteString(u.w, "\x1a")
	u.see(`\[1\]\+  Stopped                 while :; do echo tick; x=\$\(\(x\+1\)\); sleep 0.01; done\n`)
	u.enter("echo $? $x")
	u.see(`\n148 1\n`) // the job has variables of its own
	u.see("sonde# $")
	time.Sleep(50 * time.Millisecond)
	if all := u.out.String(); strings.Contains(all[u.seen:], "tick") {
		t.Errorf("it prints while it is stopped: %q", all[u.seen:])
	}
	io.WriteString(u.w, "fg\r")
	u.see(`done\ntick\ntick\n`)
	io.WriteString(u.w, "\x1a")
	u.see(`Stopped`)
	u.enter("bg")
	u.see(`\[1\]\+ while .*&\n`)
	u.see("tick\n")
	io.WriteString(u.w, "kill %1\r")
	u.jobsEnd()
	io.WriteString(u.w, "\r")
	u.see(`\[1\]\+  Terminated`)
	u.leave()
}

// jobsEnd waits for all jobs to end. The prompt may have told of that already.
func (u *user) jobsEnd() {
	for _, j := range u.shell.jobs.all(nil) {
		for now, changed := j.look(); now != ended; now, changed = j.look() {
			<-changed
		}
	}
}

// leave ends the session.
func (u *user) leave() {
	u.t.Helper()
	u.see("sonde# $")
	io.WriteString(u.w, "\x04")
	if err := <-u.done; err != nil {
		u.t.Error(err)
	}
}

// TestLoopsOfProgramsStopAndGoOn: the program gets the terminal in each round, and ^C ends the loop.
func TestLoopsOfProgramsStopAndGoOn(t *testing.T) {
	u := newUser(t)
	u.enter("for i in 1 2 3; do echo round $i; pause; done; echo never")
	u.see("round 1\n")
	u.front(1)
	io.WriteString(u.w, "\x1a")
	u.see(`\[1\]\+  Stopped +for i in`)
	u.enter("fg")
	u.front(1)
	io.WriteString(u.w, "\x03")
	u.see(`\^C\n`)
	u.enter("echo $?; jobs; for i in 1 2; do upper; done")
	u.see("130\n")
	u.front(1)
	io.WriteString(u.w, "in\r\x04")
	u.see("IN")
	u.front(1)
	io.WriteString(u.w, "again\r")
	u.see("AGAIN")
	io.WriteString(u.w, "\x04")
	u.leave()
}

// TestEndlessScriptsEndBySomeKey: ^C ends what has no command in it that would notice.
func TestEndlessScriptsEndBySomeKey(t *testing.T) {
	u := newUser(t)
	for _, script := range []string{
		"while :; do :; done", "until ((0)); do ((1)); done", "for ((;;)); do x=1; done",
		"f() { while :; do :; done; }; f | cat", "x=$(while :; do :; done)", "(while :; do :; done)",
		"sh -c 'while :; do :; done'", "repeat 1000000000 true", "while true | true; do :; done",
		"cat", "read x",
	} {
		u.enter(script)
		u.see("\n")
		time.Sleep(5 * time.Millisecond)
		io.WriteString(u.w, "\x03")
		u.see(`\^C`)
		u.enter("echo $?")
		u.see("\n130\n")
	}
	u.leave()
}

// TestCommandsGoOnInTheNextLine: a block, a quote, a here-document.
func TestCommandsGoOnInTheNextLine(t *testing.T) {
	u := newUser(t)
	u.enter("for i in 1 2; do")
	u.see("> $")
	io.WriteString(u.w, "echo \"<$i\r")
	u.see("> $")
	io.WriteString(u.w, ">\"; done\r")
	u.see("\n<1\n>\n<2\n>\n")
	u.enter("cat <<E")
	u.see("> $")
	io.WriteString(u.w, "$((1+1))\r")
	u.see("> $")
	io.WriteString(u.w, "E\r")
	u.see("\n2\n")
	u.enter("echo 'given")
	u.see("> $")
	io.WriteString(u.w, "\x03")
	u.enter("echo up")
	u.see("\nup\n")
	u.leave()
}

// TestTheSessionKeepsWhatScriptsChange: variables, functions, the directory, what is read.
func TestTheSessionKeepsWhatScriptsChange(t *testing.T) {
	u := newUser(t)
	u.enter("f() { f; }; f")
	u.see("sh: commands are nested too deeply\n")
	u.enter("x=1; f() { echo f $x; }; cd /proc")
	u.enter("x=2 ; f ; pwd")
	u.see("\nf 2\n/proc\n")
	u.enter("read -p 'who? ' who; echo hello $who")
	u.see(`who\? $`)
	io.WriteString(u.w, "mez\x7f\r")
	u.see("hello me\n")
	u.enter("cat | wc -l")
	io.WriteString(u.w, "a\rb\r\x04")
	u.see("\n2\n")
	u.enter("pause")
	u.front(1)
	io.WriteString(u.w, "\x1a")
	u.see("Stopped")
	u.enter("exit 3")
	u.see("There are stopped jobs.\n")
	u.enter("exit 3")
	if err := <-u.done; err != nil || u.shell.Status() != 3 {
		t.Errorf("%v, status %d", err, u.shell.Status())
	}
	u.shell.HangUp()
}

func TestCompletionKnowsWhatRuns(t *testing.T) {
	s := New(newWorld(t), io.Discard)
	s.Symbols = func(string) []string { return []string{"vfs.(*File).Read"} }
	s.Run("greet() { :; }; cd /proc")
	for text, want := range map[string]string{
		"hel": "hello help", "gre": "greet grep", "x=$(unam": "uname", "for i in 1; do unam": "uname",
		"cat ver": "version", "insmod kprobe_example symbol=vfs.": "vfs.(*File).Read", "insmod x target=/pro": "proc/",
		"/bin/hel": "hello", "if tru": "true",
	} {
		_, got := s.complete(text, len(text))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
