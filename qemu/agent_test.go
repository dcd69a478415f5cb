package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/qemu/machine"
	"sonde/qemu/web/serve"
)

// connected is a kernel at its prompt, and the agent at its second port.
func connected(t *testing.T, c machine.Config) (*console, *serve.Agent) {
	t.Helper()
	link, err := machine.NewAgent()
	if err != nil {
		t.Fatal(err)
	}
	c.Agent = link
	con := startConsole(t, c)
	t.Cleanup(func() { link.Close() })
	a := serve.NewAgent(link, nil)
	select {
	case <-a.Changed:
	case <-a.Gone:
		t.Fatal("the line has ended")
	case <-time.After(bootLimit / 3):
		t.Fatal("the kernel does not say who it is")
	}
	return con, a
}

// agentSays runs a command by the agent, and returns what it prints.
func agentSays(t *testing.T, a *serve.Agent, words ...string) (out, errs string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bootLimit/3)
	defer cancel()
	var o, e bytes.Buffer
	status, err := a.Run(ctx, words, &o, &e)
	if err != nil {
		t.Fatalf("%.100q: %v", words, err)
	}
	return o.String(), e.String(), status
}

// lines is a writer that passes on each line.
type lines struct {
	mu  sync.Mutex
	buf []byte
	f   func(line string)
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, b...)
	for {
		line, rest, ok := bytes.Cut(l.buf, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		l.f(string(line))
		l.buf = rest
	}
}

// TestAgent has the kernel run commands by the agent, several at once, beside what is typed at its prompt.
func TestAgent(t *testing.T) {
	runsBeside(t)
	for _, c := range []machine.Config{{Machine: "q35", SMP: 1}, {Machine: "q35", SMP: 4}, {Machine: "microvm", SMP: 2}} {
		t.Run(c.Machine, func(t *testing.T) {
			con, a := connected(t, c)
			if hello, here := a.Kernel(); !here || hello.CPUs != c.SMP || hello.Symbols == 0 || hello.Boot == 0 {
				t.Errorf("%+v, %v", hello, here)
			}
			if out, _, status := agentSays(t, a, "cat", "/proc/version"); !strings.HasPrefix(out, "sonde version ") || status != 0 {
				t.Errorf("%q, status %d", out, status)
			}
			if out, errs, status := agentSays(t, a, "sh", "-c", "echo out; echo wrong >&2; exit 7"); out != "out\n" || errs != "wrong\n" || status != 7 {
				t.Errorf("%q, %q, status %d", out, errs, status)
			}
			if _, errs, status := agentSays(t, a, "nosuchcommand"); !strings.Contains(errs, "command not found") || status != 127 {
				t.Errorf("%q, status %d", errs, status)
			}
			long := strings.Repeat("x y ", 5000) // many messages in both directions
			if out, _, _ := agentSays(t, a, "echo", long, "<b>", "$(ls)", ">f"); out != long+" <b> $(ls) >f\n" {
				t.Errorf("%d bytes of %d", len(out), len(long))
			}
			con.enter("echo at the prompt")
			con.see(`(?m)^at the prompt\r?$`)
			t.Run("counts", func(t *testing.T) { countsCalls(t, a) })
			if c.SMP == 4 {
				t.Run("own", func(t *testing.T) { leavesOutItself(t, a) })
				t.Run("million", func(t *testing.T) { million(t, a) })
			}
			t.Run("ends", func(t *testing.T) { ends(t, a) })
		})
	}
}

// counted is a writer that passes on what a script's map @ has.
func counted(counts chan<- float64) io.Writer {
	return &lines{f: func(line string) {
		var v struct {
			Type string
			Data map[string]float64
		}
		if json.Unmarshal([]byte(line), &v) == nil && v.Type == "map" {
			counts <- v.Data["@"]
		}
	}}
}

// countsCalls: what a script counts is what a program calls, and the agent itself calls nothing of the files.
func countsCalls(t *testing.T, a *serve.Agent) {
	const calls = 250
	ctx, cancel := context.WithTimeout(context.Background(), bootLimit/3)
	defer cancel()
	counts := make(chan float64, 1000)
	done := make(chan error, 1)
	go func() {
		_, err := a.Run(ctx, []string{"bt", "-q", "-f", "json", "-e",
			`BEGIN { @ = sum(0); print(@); } kprobe:vfs.Write { @ = sum(1); } interval:ms:200 { print(@); }`}, counted(counts), io.Discard)
		done <- err
	}()
	for range 5 { // some intervals in which only the agent runs
		select {
		case n := <-counts:
			if n != 0 {
				t.Errorf("%v calls before there was a program: the agent counts itself", n)
			}
		case <-ctx.Done():
			t.Fatal("no counts come")
		}
	}
	if _, errs, status := agentSays(t, a, "sh", "-c", "i=0; while [ $i -lt 250 ]; do printf x; i=$((i+1)); done"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	n := 0.0
	for n < calls {
		select {
		case n = <-counts:
		case <-ctx.Done():
			t.Fatalf("%v of %d calls were counted", n, calls)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for len(counts) > 0 {
		n = <-counts
	}
	if n != calls {
		t.Errorf("%v calls were counted, of %d", n, calls)
	}
	if out, _, _ := agentSays(t, a, "cat", "/sys/kernel/debug/attach/links"); strings.Contains(out, "vfs.Write") {
		t.Errorf("the script has ended, and its probe is there: %s", out)
	}
}

// leavesOutItself: what the agent sends for a script that idles is sent by threads of the names agent and bt.
func leavesOutItself(t *testing.T, a *serve.Agent) {
	for _, filter := range []string{"", `/comm != "agent" && comm != "bt"/`} {
		ctx, cancel := context.WithTimeout(context.Background(), bootLimit/3)
		defer cancel()
		counts, ended := make(chan float64, 1000), make(chan error, 1)
		go func() {
			script := "BEGIN { @ = sum(0); print(@); } kprobe:wire.Append " + filter + " { @ = sum(1); } interval:ms:100 { print(@); }"
			_, err := a.Run(ctx, []string{"bt", "-q", "-f", "json", "-e", script}, counted(counts), io.Discard)
			ended <- err
		}()
		n := 0.0
		for range 5 {
			select {
			case n = <-counts:
			case <-ctx.Done():
				t.Fatal("no counts come")
			}
		}
		if (n == 0) != (filter != "") {
			t.Errorf("with the filter %q, %v messages were counted", filter, n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// million: of 10^6 hits none is lost or unexplained; and a script that gets ^C in the midst of them leaves no probe.
func million(t *testing.T, a *serve.Agent) {
	const hits, place = 1_000_001, "bufio.(*Reader).ReadRune" // one more, at the end of the file
	if _, errs, status := agentSays(t, a, "sh", "-c", "head -c 1000000 /dev/zero > /tmp/zeros"); status != 0 {
		t.Fatal(errs)
	}
	for _, whole := range []bool{true, false} {
		ctx, cancel := context.WithTimeout(context.Background(), bootLimit/3)
		defer cancel()
		counts, ended := make(chan float64, 1000), make(chan error, 1)
		go func() {
			script := "BEGIN { @ = sum(0); print(@); } kprobe:" + place + " { @ = sum(1); } interval:ms:100 { print(@); }"
			_, err := a.Run(ctx, []string{"bt", "-q", "-f", "json", "-e", script}, counted(counts), io.Discard)
			ended <- err
		}()
		for range 2 {
			select {
			case <-counts:
			case <-ctx.Done():
				t.Fatal("nothing is counted")
			}
		}
		counting := make(chan int, 1)
		go func() {
			_, _, status := agentSays(t, a, "wc", "/tmp/zeros")
			counting <- status
		}()
		n := 0.0
		for n == 0 || whole && n < hits {
			select {
			case n = <-counts:
			case <-ctx.Done():
				t.Fatalf("%v hits were counted, of %d", n, hits)
			}
		}
		if links, _, _ := agentSays(t, a, "cat", "/sys/kernel/debug/attach/links"); whole && !regexp.MustCompile(` 1000001 +1000001 +0 +0 +bt +bufio`).MatchString(links) {
			t.Errorf("not each of %d hits was handled: %s", hits, links)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if links, _, _ := agentSays(t, a, "cat", "/sys/kernel/debug/attach/links"); strings.Contains(links, "ReadRune") {
			t.Errorf("the script has ended, and its probe is there: %s", links)
		}
		if status := <-counting; status != 0 || n > hits {
			t.Errorf("the command has ended with %d, after %v hits", status, n)
		}
	}
}

// ends: ^C ends a program; of more commands than there may be, one is refused; and all end when nobody is there.
func ends(t *testing.T, a *serve.Agent) {
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	refused := make(chan *serve.Refusal, 100)
	for range 70 {
		all.Go(func() {
			var r *serve.Refusal
			if _, err := a.Run(ctx, []string{"sleep", "1000"}, io.Discard, io.Discard); errors.As(err, &r) {
				refused <- r
			}
		})
	}
	for range 70 - 64 {
		select {
		case r := <-refused:
			if !strings.Contains(r.Why, "64 commands run already") {
				t.Error(r)
			}
		case <-time.After(bootLimit / 3):
			t.Fatal("none of 70 commands was refused")
		}
	}
	cancel()
	all.Wait()
	if out, _, _ := agentSays(t, a, "echo", "still", "there"); out != "still there\n" {
		t.Errorf("%q", out)
	}
}
