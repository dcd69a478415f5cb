package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sonde/qemu/machine"
	"sonde/qemu/web/serve"
)

// A sharedLine is the terminal's line of a machine, as a cable that may lose bytes.
type sharedLine struct {
	con  *console
	from *io.PipeReader
	to   *io.PipeWriter
	lose atomic.Int32 // one byte in so many; 0: none
	lost atomic.Int32
	cut  atomic.Bool // pulled; so it begins
}

// through is what arrives of b.
func (l *sharedLine) through(b []byte) (left []byte) {
	for _, c := range b {
		if l.cut.Load() || l.lose.Load() > 0 && rand.Int32N(l.lose.Load()) == 0 {
			l.lost.Add(1)
			continue
		}
		left = append(left, c)
	}
	return left
}

func (l *sharedLine) Read(b []byte) (int, error) { return l.from.Read(b) }

// Write implements io.Writer.
func (l *sharedLine) Write(b []byte) (int, error) { return len(b), l.con.Type(string(l.through(b))) }

// share boots a kernel whose agent shares the terminal's line, and returns what is seen on the terminal, as it comes.
func share(t *testing.T, c machine.Config) (*sharedLine, *serve.Agent, *screenful) {
	t.Helper()
	l := &sharedLine{}
	l.from, l.to = io.Pipe()
	c.Log = writerTo(func(b []byte) {
		if left := l.through(b); len(left) > 0 {
			l.to.Write(left)
		}
	})
	l.cut.Store(true)
	c.Append = "agent"
	l.con = startConsole(t, c)
	l.con.see(`sonde# `)
	l.cut.Store(false)
	seen := &screenful{t: t, more: make(chan string, 1<<16)}
	a := serve.NewAgent(l, func(b []byte) { seen.more <- string(b) })
	t.Cleanup(func() { l.to.Close() })
	return l, a, seen
}

// greeted waits for a kernel to say who it is.
func greeted(t *testing.T, a *serve.Agent, before int64) serve.Hello {
	t.Helper()
	for end := time.Now().Add(bootLimit / 3); ; time.Sleep(10 * time.Millisecond) {
		if h, here := a.Kernel(); here && h.Boot != before {
			return h
		}
		if time.Now().After(end) {
			t.Fatal("the kernel does not say who it is")
		}
	}
}

type writerTo func([]byte)

func (f writerTo) Write(b []byte) (int, error) { f(b); return len(b), nil }

// screenful is what a terminal shows.
type screenful struct {
	t    *testing.T
	more chan string
	text string
}

// see waits until the terminal shows the pattern, and returns all up to its end.
func (s *screenful) see(pattern string) string {
	s.t.Helper()
	re, late := regexp.MustCompile(pattern), time.After(bootLimit/20)
	for {
		if at := re.FindStringIndex(s.text); at != nil {
			text := s.text[:at[1]]
			s.text = s.text[at[1]:]
			return text
		}
		select {
		case text := <-s.more:
			s.text += text
		case <-late:
			s.t.Fatalf("it does not show %s, but %.3000q", pattern, s.text)
		}
	}
}

// TestSharedPort: terminal and messages have one line. Both work at once, a storm of log damages no message, the log
// comes in messages and comes back, and what a kernel says when it dies can be read.
func TestSharedPort(t *testing.T) {
	runsBeside(t)
	l, a, terminal := share(t, machine.Config{SMP: 2, Resets: true})
	first := greeted(t, a, 0)
	a.Type([]byte("\r"))
	terminal.see(prompt)
	before, _ := a.Kernel()
	t.Run("both", func(t *testing.T) {
		long := strings.Repeat("x y ", 5000)
		done := make(chan string, 1)
		go func() {
			var out bytes.Buffer
			a.Run(context.Background(), []string{"echo", long}, &out, io.Discard)
			done <- out.String()
		}()
		a.Type([]byte("echo typed $((6*7))\r"))
		terminal.see(`(?m)^typed 42\r?$`)
		if out := <-done; out != long+"\n" {
			t.Errorf("%d bytes of %d", len(out), len(long)+1)
		}
		a.Type([]byte("\x00echo behind a zero\r")) // Ctrl-Space
		terminal.see(`(?m)^behind a zero\r?$`)
	})
	t.Run("storm", func(t *testing.T) { logStorm(t, a, terminal) })
	if after, _ := a.Kernel(); after.Damaged != before.Damaged || after.Lost != 0 {
		t.Errorf("messages were lost: %+v, before %+v", after, before)
	}
	t.Run("lossy", func(t *testing.T) { loses(t, l, a) })
	t.Run("pulled", func(t *testing.T) { pulled(t, l, a) })
	t.Run("reset", func(t *testing.T) {
		before, _ := a.Kernel()
		gone := make(chan error, 1)
		go func() {
			_, err := a.Run(context.Background(), []string{"dmesg", "-W"}, io.Discard, io.Discard)
			gone <- err
		}()
		if err := l.con.Reset(); err != nil {
			t.Fatal(err)
		}
		if h := greeted(t, a, before.Boot); h.Symbols != first.Symbols {
			t.Errorf("%+v, before the reset %+v", h, before)
		}
		if err := <-gone; !errors.Is(err, serve.ErrGone) {
			t.Errorf("a command of the kernel before the reset ends by %v", err)
		}
		terminal.see(prompt)
		a.Type([]byte("\r")) // ends the line if the rest of a message that the reset cut was typed there
	})
	t.Run("crash", func(t *testing.T) {
		go a.Run(context.Background(), []string{"dmesg", "-W"}, io.Discard, io.Discard)
		go a.Run(context.Background(), []string{"sh", "-c", "while true; do echo much that the agent sends; sleep 0.01; done"}, io.Discard, io.Discard)
		agentSays(t, a, "true")
		a.Type([]byte("crash wildpointer\r"))
		text := terminal.see(`(?s)fatal error: fault.*end Kernel panic.*`)
		if strings.Contains(text, "much that the agent sends\x00") {
			t.Errorf("messages go on: %.2000q", text)
		}
	})
}

// logStorm has the kernel log very much while a script prints: the log comes in messages, and none is lost.
func logStorm(t *testing.T, a *serve.Agent, terminal *screenful) {
	const records = 300
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	logged, counts := make(chan string, records*2), make(chan float64, 1000)
	follows := make(chan struct{})
	go func() {
		defer close(follows)
		a.Run(ctx, []string{"dmesg", "-W"}, &lines{f: func(s string) { logged <- s }}, io.Discard)
	}()
	go a.Run(ctx, []string{"bt", "-q", "-f", "json", "-e", `interval:ms:20 { @ = sum(1); print(@); }`}, &lines{f: func(line string) {
		var v struct{ Data map[string]float64 }
		if json.Unmarshal([]byte(line), &v) != nil {
			t.Errorf("%q is no JSON", line)
		}
		select {
		case counts <- v.Data["@"]:
		default:
		}
	}}, io.Discard)
	<-counts
	for followed := false; !followed; {
		agentSays(t, a, "crash", "int3")
		select {
		case <-logged:
			followed = true
		case <-time.After(time.Second):
		}
	}
	for len(logged) > 0 {
		<-logged
	}
	if _, errs, status := agentSays(t, a, "sh", "-c", `i=0; while [ $i -lt 300 ]; do crash int3; i=$((i+1)); done`); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	for n, late := 0, time.After(bootLimit/3); n < records; {
		select {
		case s := <-logged:
			if strings.Contains(s, "unexpected int3") {
				n++
			}
		case <-late:
			t.Fatalf("%d of %d records come in messages", n, records)
		}
	}
	cancel()
	<-follows
	a.Type([]byte("echo the end\r"))
	if text := terminal.see(`(?m)^the end\r?$`); strings.Contains(text, "int3") {
		t.Errorf("the log is on the terminal: %.2000q", text)
	}
}

// loses: over a cable that loses one byte in 10,000 all commands run, once each, and their ends are heard of.
func loses(t *testing.T, l *sharedLine, a *serve.Agent) {
	l.lose.Store(10_000)
	defer l.lose.Store(0)
	for i := 0; i < 20 || l.lost.Load() == 0; i++ {
		out, _, status := agentSays(t, a, "head", "-n", "100", "/proc/kallsyms")
		if h, _ := a.Kernel(); status != 0 || h.Damaged == 0 && len(out) < 2000 {
			t.Errorf("status %d, %d bytes", status, len(out))
		}
		if i >= 20 {
			continue
		}
		agentSays(t, a, "sh", "-c", "echo once >>/tmp/ran")
	}
	l.lose.Store(0)
	if out, _, _ := agentSays(t, a, "cat", "/tmp/ran"); strings.Count(out, "once\n") != 20 {
		t.Errorf("20 commands ran %d times", strings.Count(out, "once\n"))
	}
}

// pulled: when the cable is out for longer than the kernel waits, its commands end and the log comes back.
func pulled(t *testing.T, l *sharedLine, a *serve.Agent) {
	before, _ := a.Kernel()
	gone := make(chan error, 1)
	go func() {
		_, err := a.Run(context.Background(), []string{"sleep", "100000"}, io.Discard, io.Discard)
		gone <- err
	}()
	a.Type([]byte("echo cut $((40+2)) here\r"))
	l.con.see(`cut 42 here`)
	l.cut.Store(true)
	for h, _ := a.Kernel(); h.Silent == 0; h, _ = a.Kernel() {
		time.Sleep(10 * time.Millisecond)
	}
	for err := errors.New(""); err != nil; _, err = l.con.Expect(`unexpected int3`, time.Second) {
		l.con.key("crash int3\r") // past the cable
	}
	l.cut.Store(false)
	if err := <-gone; err != nil && !errors.Is(err, serve.ErrGone) {
		t.Error(err)
	}
	if h := greeted(t, a, before.Boot); h.Silent != 0 {
		t.Errorf("%+v", h)
	}
}
