package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sonde/qemu/draw"
	"sonde/qemu/web/replay"
)

// TestWhatRunsPrint: counts, pictures and text reach the page, whatever strings are in them.
func TestWhatRunsPrint(t *testing.T) {
	const hostile = "</svg><script>alert(1)</script>\x1b[31m\xff"
	next := make(chan string)
	k := &fakeKernel{run: func(ctx context.Context, words []string, out, errs io.Writer) (int, error) {
		for {
			select {
			case text, more := <-next:
				if !more {
					io.WriteString(errs, "ERROR: "+hostile)
					return 3, nil
				}
				io.WriteString(out, text)
			case <-ctx.Done():
				return 130, nil
			}
		}
	}}
	c, _ := served(t, k)
	p := c.opened()
	_, v := c.post("/start", request{Page: p.page, Kind: "count", Place: "line:x.go:4"})
	if v["command"] != "bt -q -f json -e 'BEGIN { @ = sum(0); print(@); } line:x.go:4 { @ = sum(1); } interval:ms:500 { print(@); }'" {
		t.Errorf("%v", v["command"])
	}
	next <- `{"type": "map", "da`
	next <- `ta": {"@": 41}}` + "\n"
	if e := p.next("count"); e.N != 41 || e.ID != int(v["id"].(float64)) {
		t.Errorf("%+v", e)
	}
	first := which{p.page, int(v["id"].(float64))}
	c.post("/stop", first)
	if e := p.next("end"); e.N != 130 {
		t.Errorf("%+v", e)
	}
	for status := http.StatusOK; status == http.StatusOK; { // until nothing is left of it
		status, _ = c.post("/remember", first)
	}
	if status, v := c.post("/stop", first); status != http.StatusOK {
		t.Errorf("a page stops what has ended meanwhile: %d, %v", status, v)
	}
	_, v = c.post("/start", request{Page: p.page, Kind: "script", Script: "x"})
	next <- "no JSON " + hostile + "\n"
	if e := p.next("lines"); len(e.Lines) != 1 || strings.Contains(e.Lines[0], "\x1b") || !utf8.ValidString(e.Lines[0]) || !strings.Contains(e.Lines[0], "<script>") {
		t.Errorf("%+v", e)
	}
	next <- strings.Repeat("x", mostLine+100) + "\n"
	var lines []string
	for len(lines) < 2 {
		lines = append(lines, p.next("lines").Lines...)
	}
	if len(lines[0]) != mostLine || !strings.Contains(lines[1], "the line goes on") {
		t.Errorf("a line of %d bytes, and %.100q", len(lines[0]), lines[1])
	}
	for _, data := range []string{
		`{"type": "hist", "data": {"@": [{"min": 1, "max": 3, "count": 9}, {"min": 4, "count": 1}]}}`,
		`{"type": "map", "data": {"@": {"\n    a.B+2\n    ` + strings.ReplaceAll(strings.ToValidUTF8(hostile, ""), "\x1b", "") + `\n": 5}}}`,
	} {
		next <- data + "\n"
		e := p.next("picture")
		if !strings.Contains(e.HTML, "<svg") || strings.Contains(e.HTML, "<script>alert") {
			t.Errorf("%s", e.HTML)
		}
		c.post("/remember", which{p.page, int(v["id"].(float64))})
	}
	status, text, h := c.send("GET", fmt.Sprintf("/save?page=%d&id=%v", p.page, v["id"]), "")
	if status != http.StatusOK || !strings.Contains(text, "<svg") || !strings.Contains(h.Get("Content-Disposition"), "attachment") {
		t.Errorf("%d, %.100s", status, text)
	}
	close(next)
	if e := p.next("end"); e.N != 3 || !strings.HasPrefix(e.Text, "ERROR: ") || strings.Contains(e.Text, "\x1b") {
		t.Errorf("%+v", e)
	}
}

// TestFolded: stacks as other tools read them, of the kernel, of programs and of both.
func TestFolded(t *testing.T) {
	for script, c := range map[string][2]string{
		"k:f { @[kstack] = count(); }":         {`{"\n    vfs.Read+2\n    a;b+7\n": 5, "\n    vfs.Read+9\n": 1}`, "a:b;vfs.Read 5\nvfs.Read 1\n"},
		"k:f { @[kstack, ustack] = count(); }": {`{"\n    vfs.Read+2\n,\n    read+1\n    main+3\n": 7}`, "main;read;vfs.Read 7\n"},
		"k:f { @[comm] = count(); }":           {`{"sh": 2}`, "sh 2\n"},
		"k:f { @ = count(); }":                 {`3`, ""},
	} {
		x := &run{words: []string{"bt", "-e", script}, data: map[string]json.RawMessage{"@": json.RawMessage(c[0])}}
		var b strings.Builder
		if x.folded(&b); b.String() != c[1] {
			t.Errorf("%s: %q, not %q", script, b.String(), c[1])
		}
	}
}

// TestFramesHaveKinds: a stack of a program is behind that of the kernel.
func TestFramesHaveKinds(t *testing.T) {
	got := stackOf("\n    vfs.Read+2\n,\n    main.main+3\n", true, true)
	if want := []draw.Frame{{Name: "main.main", Kind: draw.Program}, {Name: "vfs.Read", Kind: draw.Kernel}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestOwnHits: in code that the page itself executes, counts leave out the threads that do so for it.
func TestOwnHits(t *testing.T) {
	for place, want := range map[string]bool{"line:runtime/proc.go:9": true, "line:kernel/wire/wire.go:9": true, "line:kernel/vfs/io.go:9": false, "line:linux/proc/run.go:9": false} {
		if script := countScript(place); strings.Contains(script, place+` /comm != "agent" && comm != "bt"/ {`) != want {
			t.Error(script)
		}
	}
}

// TestAPageThatDoesNotRead loses pictures and old lines, and is told of lines.
func TestAPageThatDoesNotRead(t *testing.T) {
	p := &page{wake: make(chan struct{}, 1), latest: map[[2]any]event{}, lines: map[int]*unread{}}
	for n := range 100_000 {
		p.tell(event{ID: 1, Kind: "count", N: float64(n)})
		p.tell(event{ID: 1, Kind: "lines", Lines: []string{fmt.Sprint(n)}})
	}
	all := p.take()
	if len(all) != 2 || all[1].N != 99_999 || len(all[0].Lines) != mostWaiting+1 || !strings.HasPrefix(all[0].Lines[0], "… 98000 lines are left out") {
		t.Errorf("%d events", len(all))
	}
}

// TestGlass: a recording becomes a replay, and its words are what the prompt takes.
func TestGlass(t *testing.T) {
	asked := make(chan string, 10)
	k := &fakeKernel{run: func(_ context.Context, words []string, out, _ io.Writer) (int, error) {
		asked <- typed(words)
		io.WriteString(out, "said meanwhile\n"+string(replay.Kinds[0].JSON()))
		return 0, nil
	}}
	c, _ := served(t, k)
	for want, r := range map[string]recording{
		"glass -t step -n 3 -j vfs.Read sh -c 'cat /proc/version'": {Place: "vfs.Read", Tier: "step", Hit: 3, Command: "cat /proc/version"},
		"glass -o -j vfs.Read":        {Place: "vfs.Read", Way: true, Hit: 3, Command: "x"},
		`glass -j 'vfs.(*File).Read'`: {Place: "vfs.(*File).Read"},
	} {
		status, v := c.post("/glass", r)
		if status != http.StatusOK || !strings.Contains(fmt.Sprint(v["html"]), "rp-frame") || v["command"] != want {
			t.Errorf("%d, %v, want %s", status, v["command"], want)
		}
		if got := <-asked; got != want {
			t.Errorf("the kernel was asked %s, want %s", got, want)
		}
	}
	for _, k := range replay.Kinds {
		if status, v := c.post("/replay", map[string]string{"Kind": k.Name}); status != http.StatusOK || v["command"] != k.Script {
			t.Errorf("%s: %d", k.Name, status)
		}
	}
}

// TestAskedAgain: what the server asks is whole, though messages of the first answers were lost.
func TestAskedAgain(t *testing.T) {
	k, n := new(fakeKernel), 0
	k.run = func(_ context.Context, _ []string, out, _ io.Writer) (int, error) {
		if n++; n < 4 {
			k.damaged.Add(1)
			io.WriteString(out, "a part")
			return 0, nil
		}
		io.WriteString(out, "all of it")
		return 0, nil
	}
	s := &Server{Runner: k}
	if text, err := s.ask(t.Context(), "explain"); text != "all of it" || err != nil || n != 4 {
		t.Errorf("%q, %v, asked %d times", text, err, n)
	}
}
