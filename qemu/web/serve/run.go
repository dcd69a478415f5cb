package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A run is a command that a page has started. What it prints goes line by line to the function of its kind.
type run struct {
	id     int
	kind   string
	words  []string
	page   *page
	cancel context.CancelFunc

	mu sync.Mutex
	// guarded by mu:
	buf     []byte // of an unfinished line
	cut     bool   // the line is too long, and is not shown
	raw     []byte // what the last picture is of
	all     []byte // of a time line: everything
	kept    map[string]json.RawMessage
	data    map[string]json.RawMessage // what was printed last, by the names of maps
	picture func(io.Writer) error      // the last one, as a file
}

// request is what a page wants to be started.
type request struct {
	Page   int    `json:"page"`
	Kind   string `json:"kind"`
	Place  string `json:"place"`
	Script string `json:"script"`
}

// countScript counts how often a place is hit: in code that the page executes, too, by others.
func countScript(place string) string {
	return "BEGIN { @ = sum(0); print(@); } " + place + " " + others(strings.TrimPrefix(place, "line:")) + "{ @ = sum(1); } interval:ms:500 { print(@); }"
}

// words are what a request runs.
func (q request) words() ([]string, error) {
	if strings.ContainsRune(q.Place+q.Script, 0) {
		return nil, bad("a command cannot have a zero byte in it")
	}
	bt := []string{"bt", "-q", "-f", "json", "-e"}
	switch q.Kind {
	case "count":
		if !place.MatchString(q.Place) || strings.ContainsAny(q.Place, "{}, \t") { // no more than a place of a script
			return nil, bad("%q is no place", q.Place)
		}
		return append(bt, countScript(q.Place)), nil
	case "hist", "stacks", "script":
		return append(bt, q.Script), nil
	case "timeline":
		return []string{"bt", "-q", "--format", "chrome", "-e", q.Script}, nil
	case "line":
		return []string{"sh", "-c", q.Script}, nil
	case "log":
		return []string{"dmesg", "-w"}, nil
	case "probes":
		return []string{"cat", "/sys/kernel/debug/attach/links", "/sys/kernel/debug/kprobes/stats"}, nil
	}
	return nil, bad("nothing is called %q that could be started", q.Kind)
}

// typed is a command as one types it at the prompt.
func typed(words []string) string {
	all := slices.Clone(words)
	for i, w := range all {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`(){}[]<>|&;*?~#!") {
			all[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(all, " ")
}

// start starts something for a page.
func (s *Server) start(r *http.Request) (any, error) {
	q, err := body[request](r)
	if err != nil {
		return nil, err
	}
	p, err := s.page(r, q.Page)
	if err != nil {
		return nil, &failure{http.StatusGone, err.Error()}
	}
	words, err := q.words()
	if err != nil {
		return nil, err
	}
	if _, here := s.Runner.Kernel(); !here {
		return nil, ErrGone
	}
	ctx, cancel := context.WithCancel(s.ctx)
	x := &run{kind: q.Kind, words: words, page: p, cancel: cancel}
	if err := s.begin(x); err != nil {
		cancel()
		return nil, err
	}
	go s.run(ctx, x)
	return map[string]any{"id": x.id, "command": typed(words)}, nil
}

// begin notes a run.
func (s *Server) begin(x *run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.page.mu.Lock()
	defer x.page.mu.Unlock()
	switch {
	case x.page.gone:
		return &failure{http.StatusGone, "the page has been closed"}
	case len(x.page.runs) >= runsOfPage:
		return &failure{http.StatusTooManyRequests, fmt.Sprintf("this page runs %d things already: stop one", runsOfPage)}
	case s.runs >= runsOfAll-1: // what is asked meanwhile runs, too
		return &failure{http.StatusTooManyRequests, fmt.Sprintf("all pages together run %d things already: stop one", s.runs)}
	}
	s.last++
	s.runs++
	x.id = s.last
	x.page.runs[x.id] = x
	return nil
}

// run runs a command, and tells its page how it ended.
func (s *Server) run(ctx context.Context, x *run) {
	var errs bytes.Buffer
	status, err := s.Runner.Run(ctx, x.words, writer(x.write), &bounded{&errs, mostRequest})
	x.mu.Lock()
	if len(x.buf) > 0 {
		x.line(x.buf)
	}
	x.mu.Unlock()
	s.mu.Lock()
	s.runs--
	s.mu.Unlock()
	text := strings.TrimSpace(clean(errs.String()))
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		text = refused.Why
	case err != nil:
		text = err.Error()
	}
	x.page.mu.Lock()
	if x.picture == nil { // one that has drawn something can still be saved
		delete(x.page.runs, x.id)
	}
	x.page.mu.Unlock()
	x.page.tell(event{ID: x.id, Kind: "end", N: float64(status), Text: text, Here: err == nil})
}

// writer is a function that takes what is written.
type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// write takes what the command prints.
func (x *run) write(b []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kind == "timeline" {
		x.timeline(b)
		return
	}
	x.buf = append(x.buf, b...)
	for {
		line, rest, whole := bytes.Cut(x.buf, []byte("\n"))
		switch {
		case len(line) > mostLine:
			x.line(line[:mostLine])
			x.cut = true
			x.buf = x.buf[mostLine:]
			if !whole {
				x.buf = nil
			}
			continue
		case !whole:
			return
		}
		x.line(line)
		x.buf = bytes.Clone(rest)
	}
}

// line takes a line. What is left of one that was too long is not shown. Context: mu held.
func (x *run) line(b []byte) {
	if x.cut {
		x.cut = false
		x.page.tell(event{ID: x.id, Kind: "lines", Lines: []string{fmt.Sprintf("… the line goes on, behind %d bytes", mostLine)}})
		return
	}
	var v struct {
		Type string
		Data json.RawMessage
	}
	if x.words[0] != "bt" || json.Unmarshal(b, &v) != nil || v.Type != "map" && v.Type != "hist" && v.Type != "stats" {
		text := string(b)
		if x.words[0] == "bt" && v.Type == "printf" {
			json.Unmarshal(v.Data, &text)
		}
		x.page.tell(event{ID: x.id, Kind: "lines", Lines: []string{strings.TrimSuffix(clean(text), "\n")}})
		return
	}
	if x.kind == "count" {
		var n map[string]float64
		if json.Unmarshal(v.Data, &n) == nil {
			x.page.tell(event{ID: x.id, Kind: "count", N: n["@"]})
		}
		return
	}
	var maps map[string]json.RawMessage
	if json.Unmarshal(v.Data, &maps) == nil {
		if x.data == nil {
			x.data = map[string]json.RawMessage{}
		}
		for name, value := range maps {
			x.data[name] = value
		}
		x.draw()
	}
}

// which is what a page says of one of its runs.
type which struct {
	Page int `json:"page"`
	ID   int `json:"id"`
}

// runOf returns the run that a request is about, nil if it has ended.
func (s *Server) runOf(r *http.Request) (*run, error) {
	q, err := body[which](r)
	if err != nil {
		return nil, err
	}
	p, err := s.page(r, q.Page)
	if err != nil {
		return nil, &failure{http.StatusGone, err.Error()}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[q.ID], nil
}

// stop ends a run. It may have ended by itself before the page knows.
func (s *Server) stop(r *http.Request) (any, error) {
	x, err := s.runOf(r)
	if err != nil {
		return nil, err
	}
	if x != nil {
		x.cancel()
	}
	return struct{}{}, nil
}

// remember keeps what is shown, to compare with it.
func (s *Server) remember(r *http.Request) (any, error) {
	x, err := s.runOf(r)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return nil, &failure{http.StatusNotFound, "what was shown has ended"}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept = maps.Clone(x.data)
	return struct{}{}, nil
}

// save answers with what a run shows, as a file.
func (s *Server) save(w http.ResponseWriter, r *http.Request) {
	number, _ := strconv.Atoi(r.FormValue("page"))
	id, _ := strconv.Atoi(r.FormValue("id"))
	p, err := s.page(r, number)
	if err != nil {
		http.Error(w, err.Error(), http.StatusGone)
		return
	}
	p.mu.Lock()
	x := p.runs[id]
	p.mu.Unlock()
	if x == nil {
		http.Error(w, "nothing is shown that could be saved", http.StatusNotFound)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var b bytes.Buffer
	kind, name := "image/svg+xml", "sonde.svg"
	switch {
	case r.FormValue("as") == "json" && x.raw != nil:
		kind, name = "application/json", "sonde.json"
		b.Write(x.raw)
	case r.FormValue("as") == "json":
		kind, name = "application/json", "sonde.json"
		b.WriteString(mustJSON(x.data))
	case r.FormValue("as") == "folded":
		kind, name = "text/plain; charset=utf-8", "sonde.folded"
		x.folded(&b)
	case x.picture == nil:
		http.Error(w, "there is no picture yet", http.StatusNotFound)
		return
	default:
		x.picture(&b)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Write(b.Bytes())
}
