package main

import (
	"bufio"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestWeb is the launcher with -web, as a browser sees it: the address lets in, the source has the kernel's marks, and
// a line counts the calls of a program.
func TestWeb(t *testing.T) {
	runsBeside(t)
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	steps := filepath.Join(t.TempDir(), "steps")
	if out, err := exec.Command("go", "build", "-o", steps, "./web/serve/testdata/steps").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := exec.Command(path, "-web", "-add", steps+":/bin/steps", "-timeout", "0", "-c", "sleep 100000")
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	in := bufio.NewReader(errs)
	address := ""
	for address == "" {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal("no address is printed")
		}
		address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\?t=[0-9a-f]{32}`).FindString(line)
	}
	go io.Copy(io.Discard, in)
	base, _, _ := strings.Cut(address, "/?")
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, Timeout: bootLimit / 3}
	read := func(a *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, _ := io.ReadAll(a.Body)
		if a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", a.Status, b)
		}
		return string(b)
	}
	if page := read(browser.Get(address)); !strings.Contains(page, "<title>sonde</title>") {
		t.Errorf("%.200q", page)
	}
	open := func() *http.Response {
		t.Helper()
		events, err := (&http.Client{Jar: jar}).Get(base + "/events")
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	events := open()
	stream := bufio.NewReader(events.Body)
	type event struct {
		ID, Page int
		Kind     string
		N        float64
		Here     bool
	}
	next := func(fits func(e event) bool) (e event) {
		t.Helper()
		for {
			line, err := stream.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			e = event{}
			if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &e) == nil && fits(e) {
				return e
			}
		}
	}
	page := next(func(e event) bool { return e.Kind == "page" }).Page
	next(func(e event) bool { return e.Kind == "kernel" && e.Here })
	asked := time.Now()
	if source := read(browser.Get(base + "/source?f=vfs.Write")); !strings.Contains(source, `data-mark=\"jump\"`) || !strings.Contains(source, `func`) {
		t.Errorf("%s", source)
	}
	t.Logf("the marks of vfs.Write came after %v", time.Since(asked))
	start := func(kind, place, script string) (id int) {
		b, _ := json.Marshal(map[string]any{"page": page, "kind": kind, "place": place, "script": script})
		var v struct{ ID int }
		json.Unmarshal([]byte(read(browser.Post(base+"/start", "application/json", strings.NewReader(string(b))))), &v)
		return v.ID
	}
	asked = time.Now()
	count := start("count", "kprobe:vfs.Write", "")
	next(func(e event) bool { return e.ID == count && e.Kind == "count" })
	t.Logf("a number came %v after the click", time.Since(asked))
	next(func(e event) bool { return e.ID == count && e.Kind == "count" && e.N == 0 }) // the first one is printed before the script counts
	program := start("line", "", "i=0; while [ $i -lt 100 ]; do printf x; i=$((i+1)); done")
	if e := next(func(e event) bool { return e.ID == program && e.Kind == "end" }); e.N != 0 {
		t.Errorf("status %v", e.N)
	}
	next(func(e event) bool { return e.ID == count && e.Kind == "count" }) // may be from before the end
	if e := next(func(e event) bool { return e.ID == count && e.Kind == "count" }); e.N != 100 {
		t.Errorf("%v calls were counted, of 100", e.N)
	}

	// The same of a line of a program that -add has given: n = 3*n + 1, twice from 3 and 6, and once from 5.
	source := read(browser.Get(base + "/source?f=" + url.QueryEscape(`/bin/steps:"main.(*walk).to1"`)))
	var v struct{ HTML string }
	json.Unmarshal([]byte(source), &v)
	place := regexp.MustCompile(`data-line="14" data-place="([^"]*)" data-mark="breakpoint"`).FindStringSubmatch(v.HTML)
	if place == nil || !strings.Contains(v.HTML, "steps") {
		t.Fatalf("line 14 has no mark in %s", v.HTML)
	}
	count = start("count", html.UnescapeString(place[1]), "")
	for range 2 {
		next(func(e event) bool { return e.ID == count && e.Kind == "count" && e.N == 0 })
	}
	program = start("line", "", "steps > /dev/null")
	next(func(e event) bool { return e.ID == program && e.Kind == "end" })
	next(func(e event) bool { return e.ID == count && e.Kind == "count" })
	if e := next(func(e event) bool { return e.ID == count && e.Kind == "count" }); e.N != 5 {
		t.Errorf("line 14 was counted %v times, not 5", e.N)
	}
	b, _ := json.Marshal(map[string]any{"place": strings.TrimPrefix(html.UnescapeString(place[1]), "uprobe:"), "hit": 1, "command": "steps"})
	if text := read(browser.Post(base+"/glass", "application/json", strings.NewReader(string(b)))); !strings.Contains(text, "from ring 3") || !strings.Contains(text, "rp-frame") {
		t.Errorf("no recording: %s", text)
	}

	// A page that is closed takes its probes away.
	asked = time.Now()
	events.Body.Close()
	events = open()
	defer events.Body.Close()
	stream = bufio.NewReader(events.Body)
	page = next(func(e event) bool { return e.Kind == "page" }).Page
	gone := start("line", "", "while grep -q ' bt ' /sys/kernel/debug/attach/links; do sleep 0.02; done")
	next(func(e event) bool { return e.ID == gone && e.Kind == "end" })
	t.Logf("the probes of a closed page were gone after %v", time.Since(asked))
}
