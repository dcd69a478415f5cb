//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sonde/internal/image"
	"sonde/qemu/machine"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"", ""},
		{"-part functions,blacklist -shard 2/4 -j 3", ""},
		{"-part nothing", `-part "nothing": there are functions, `},
		{"-shard 0/4", `-shard "0/4"`},
		{"-shard 5/4", `-shard "5/4"`},
		{"-shard x", `-shard "x"`},
		{"-j 0", "-j 0"},
		{"all", `unexpected argument "all"`},
	} {
		_, err := parse(strings.Fields(c.args), io.Discard)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.args, err, c.says)
		}
	}
}

// TestGoesOnWhereItWasStopped: what has been done is not done again, nothing is left out, each unit
// is in one shard, and what could not be run does not count as done.
func TestGoesOnWhereItWasStopped(t *testing.T) {
	var ran []string
	broken := errors.New("broken")
	fail := "c"
	part := Part{Name: "letters", Units: func(*Machines) (all []Unit, err error) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			all = append(all, Unit{Name: name, Cost: time.Second, Run: func(context.Context) Outcome {
				if name == fail {
					return Outcome{Err: broken}
				}
				ran = append(ran, name)
				return Outcome{Counts: []Count{{"units", 1}}, Findings: []string{"found in " + name}}
			}})
		}
		return all, nil
	}}
	s := state{t.TempDir()}
	go1 := func(shard, of int) error {
		o := options{parts: []Part{part}, shard: shard, of: of}
		tasks, err := o.tasks(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		return (&run{state: s, log: &log}).do(t.Context(), tasks, 1)
	}
	if err := go1(1, 1); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	if !slices.Equal(ran, []string{"a", "b"}) {
		t.Errorf("%v were run", ran)
	}
	fail = ""
	for shard := range 2 {
		if err := go1(shard+1, 2); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(ran)
	if !slices.Equal(ran, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("%v were run", ran)
	}
	r := result{part: part}
	for _, name := range ran {
		o, ok, err := s.load("letters", Unit{Name: name})
		if err != nil || !ok {
			t.Errorf("%s: %v", name, err)
		}
		r.add(o)
	}
	if r.sum.Counts[0] != (Count{"units", 5}) || len(r.sum.Findings) != 5 {
		t.Errorf("%+v", r.sum)
	}
}

// TestStopped: a run that is told to stop keeps what is done, and begins nothing.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := state{t.TempDir()}
	begun := 0
	unit := func(name string) task {
		return task{Part{Name: "p"}, Unit{Name: name, Run: func(context.Context) Outcome { begun++; stop(); return Outcome{} }}}
	}
	if err := (&run{state: s, log: io.Discard}).do(ctx, []task{unit("a"), unit("b"), unit("c")}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, ok, _ := s.load("p", Unit{Name: "a"}); !ok || begun != 1 {
		t.Errorf("%d were begun, the first kept: %v", begun, ok)
	}
}

// TestOutcomesThatDoNotCount: what was run of other sources, and what has shown nothing, is
// run again.
func TestOutcomesThatDoNotCount(t *testing.T) {
	s := state{t.TempDir()}
	unit := Unit{Name: "a", Key: "of these sources"}
	tasks := func() int {
		part := Part{Name: "p", Units: func(*Machines) ([]Unit, error) { return []Unit{unit}, nil }}
		all, err := options{parts: []Part{part}, shard: 1, of: 1}.tasks(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if n := tasks(); n != 1 {
		t.Errorf("%d to be run at first", n)
	}
	for _, o := range []Outcome{{}, {Open: true}} {
		if err := s.save("p", unit, o); err != nil {
			t.Fatal(err)
		}
		want := 0
		if o.Open {
			want = 1
		}
		if n := tasks(); n != want {
			t.Errorf("open %v: %d to be run", o.Open, n)
		}
	}
	if err := s.save("p", unit, Outcome{}); err != nil {
		t.Fatal(err)
	}
	unit.Key = "of others"
	if _, done, _ := s.load("p", unit); done || tasks() != 1 {
		t.Error("an outcome of other sources counts")
	}
}

// TestPageIsWhole: it is written if all has been run and all was asked for, or if it is asked
// for.
func TestPageIsWhole(t *testing.T) {
	all := make([]result, len(parts))
	for i := range all {
		all[i] = result{part: parts[i], done: 3, all: 3}
	}
	for _, c := range []struct {
		args string
		done int
		says string
	}{
		{"", 3, ""},
		{"-page", 3, ""},
		{"", 2, "2 of 3"},
		{"-page", 2, ""},
		{"-part functions", 3, "leaves out"},
		{"-shard 1/2", 3, "leaves out"},
		{"-page -part functions", 3, ""},
	} {
		o, err := parse(strings.Fields(c.args), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		all[1].done = c.done
		err = o.wholePage(all)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, %d done: %v, want %q", c.args, c.done, err, c.says)
		}
	}
}

// TestPageSaysWhatIsMissing: parts that are not complete are named, and the numbers are those of
// what was run.
func TestPageSaysWhatIsMissing(t *testing.T) {
	all := make([]result, len(parts))
	for i := range all {
		all[i] = result{part: parts[i], done: 3, all: 3}
	}
	all[slices.IndexFunc(parts, func(p Part) bool { return p.Name == "instructions" })].sum.add("boundaries", 77)
	seen := view{all: 1000, probed: 900, reached: 421, kernel: share{800, 412}}
	has := func(text string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}
	text := shows(all, seen)
	has(text, "1000 instructions", "900 can", "77 got", "51.5 % of the kernel", "42.1 % of all", "No probe changed")
	if strings.Contains(text, "incomplete") {
		t.Error("it is complete:", text)
	}
	for line := range strings.Lines(pageHead + text + pagePackages + pageMap) {
		if len(line) > 100+len("\n") {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
	last := &all[len(all)-1]
	last.done, last.sum.Findings = 1, []string{"a", "b"}
	has(shows(all, seen), "incomplete", "mutations 1 of 3.", "2 findings")
}

// TestOriginIsTold: a page says what it was made from.
func TestOriginIsTold(t *testing.T) {
	root, err := image.Root()
	if err != nil {
		t.Fatal(err)
	}
	o := origin{commit: "0123456789ab", changed: true, image: "feed-beef", qemu: "QEMU 7.2"}
	if s := o.String(); s != "commit 0123456789ab, with changes that were not committed; image feed-beef; QEMU 7.2" {
		t.Error(s)
	}
	if o, err = originOf(root, "x"); err != nil || o.commit == "" || !strings.Contains(o.qemu, "QEMU") {
		t.Errorf("%+v, %v", o, err)
	}
	was, err := sumOf(t.TempDir())
	own, err2 := sumOf(root + "/ktest/prove")
	if err != nil || err2 != nil || slices.Equal(was, own) {
		t.Errorf("%x, %x, %v, %v", was, own, err, err2)
	}
}

// TestHeard: what the machine prints comes in pieces, and a crash is told from an end.
func TestHeard(t *testing.T) {
	var h heard
	var o Outcome
	var rest []string
	l := &liner{each: func(text string) { h.hear(text, &o, func(s string) { rest = append(rest, s) }) }}
	for piece := range slices.Chunk([]byte("sum 12\nat 7 f\ncount entry-probes 2\ncount entry-probes 3\nfinding g: wrong\nnote FAIL x: y\nsum 13\nr 1 2\nen"), 5) {
		l.Write(piece)
	}
	if h.ended || h.next != 7 || h.at != "f" || o.Counts[0] != (Count{"entry probes", 5}) || len(o.Findings) != 2 || !slices.Equal(o.Notes, []string{"FAIL x: y"}) || !slices.Equal(rest, []string{"r 1 2"}) {
		t.Errorf("%+v %+v %q", h, o, rest)
	}
	io.WriteString(l, "d\n")
	if !h.ended {
		t.Error("the end was not heard")
	}
	o.counted("count: hostile calls 17")
	if o.Counts[1] != (Count{"hostile calls", 17}) {
		t.Errorf("%+v", o.Counts)
	}
}

// TestHush: a machine that the host does not let run has not hung, whichever of its threads waits for a
// processor; one that says nothing has, and one that runs and says nothing.
func TestHush(t *testing.T) {
	const quiet = 100 * time.Millisecond
	type shares = map[string]machine.Share
	had := func(ran, delayed time.Duration) machine.Share { return machine.Share{Ran: ran, Delayed: delayed} }
	var lines atomic.Int64
	for _, c := range []struct {
		name   string
		shares func(d time.Duration) shares
		hung   bool
	}{
		{"idle", func(time.Duration) shares { return shares{"1": had(time.Hour, time.Hour), "2": had(0, 0)} }, true},
		{"running", func(d time.Duration) shares { return shares{"1": had(d, 0), "2": had(0, d)} }, true},
		{"one delayed", func(d time.Duration) shares { return shares{"1": had(0, 0), "2": had(d/4, d)} }, false},
		{"by turns", func(d time.Duration) shares { return shares{"1": had(d/5, d/2), "2": had(d/5, d/2)} }, false},
		{"talking", func(time.Duration) shares { lines.Add(1); return nil }, false},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*quiet)
		begin, before := time.Now(), lines.Load()
		if hung := hush(ctx, quiet, &lines, func() shares { return c.shares(time.Since(begin)) }); hung != c.hung {
			t.Errorf("%s: hung %v after %v and %d lines", c.name, hung, time.Since(begin), lines.Load()-before)
		}
		cancel()
	}
}

// testImage is the image with tests.
var testImage = sync.OnceValues(func() (string, error) { return image.Build(image.BuildOptions{Test: true}) })

// index returns the number of a function that the work executes, and the next one, too.
var index = sync.OnceValues(func() (int, error) {
	path, err := testImage()
	if err != nil {
		return 0, err
	}
	var o Outcome
	m := &Machines{Image: path}
	_, err = m.prove(context.Background(), machine.Config{}, silence, "index sonde/kernel/vfs.Read", &o, func(string) {})
	if err == nil && len(o.Counts) == 1 {
		return o.Counts[0].N, nil
	}
	return 0, fmt.Errorf("no index: %+v, %v", o, err)
})

// TestSlice boots the image with tests, and proves a little.
func TestSlice(t *testing.T) {
	m, at := machines(t)
	o := m.sweep(t.Context(), machine.Config{SMP: 2}, "functions", at, at+6, func(string) {})
	fine(t, o, "entry probes", "as jumps", "functions hit")
	o = m.everyInstruction(t.Context(), at, at+25)
	fine(t, o, "boosted reached", "emulated reached", "stepped reached", "jump reached", "fused reached", "stub reached", "the same as a processor's")
	if len(o.Reached) < 50 {
		t.Errorf("only %d instructions are reached", len(o.Reached))
	}
}

// machines are those of the image with tests; at is index.
func machines(t *testing.T) (m *Machines, at int) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: boots machines")
	}
	at, err := index()
	if err != nil {
		t.Fatal(err)
	}
	path, _ := testImage()
	return &Machines{Image: path}, at
}

// TestWideSlice does a small tour with breakpoints: it reports what it reaches, and the two of its
// lines that are wrong.
func TestWideSlice(t *testing.T) {
	m, at := machines(t)
	o := m.everythingOnce(t.Context(), 2, at, at+25, "echo one | wc\n# a comment\n~ cat /proc/uptime\n! true\ncat /proc/uptime\n! false\n! ktest symbols/text_is_covered\n")
	want := []string{"! false: status 1", "a breakpoint on each instruction: another result of cat /proc/uptime, ! false"}
	if !slices.Equal(o.Findings, want) {
		t.Errorf("%q, want %q", o.Findings, want)
	}
	o.Findings = nil
	fine(t, o, "breakpoints", "executed", "removed after 3 hits")
	if len(o.Reached) < 50 || slices.Contains(o.Reached, 0) {
		t.Errorf("%d instructions are reached, among them some without an address: %v", len(o.Reached), slices.Contains(o.Reached, 0))
	}
}

// TestEncodings tries the instructions of some functions of the image.
func TestEncodings(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the kernel")
	}
	path, err := testImage()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCode(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		c.functions[i] = c.functions[i*len(c.functions)/100]
	}
	c.functions = c.functions[:100]
	fine(t, tryAll(t.Context(), c, 1, states), "emulated", "boosted", "stepped", "detoured")
}

// fine checks that nothing is wrong, and that something was done.
func fine(t *testing.T, o Outcome, counts ...string) {
	t.Helper()
	if o.Err != nil {
		t.Fatal(o.Err)
	}
	for _, f := range o.Findings {
		t.Error(f)
	}
	if len(o.Findings) > 0 {
		t.Logf("%q", o.Notes)
	}
	for _, name := range counts {
		if !slices.ContainsFunc(o.Counts, func(c Count) bool { return c.Name == name && c.N > 0 }) {
			t.Errorf("no %s: %v", name, o.Counts)
		}
	}
}
