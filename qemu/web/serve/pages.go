package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Limits. None is silent: what exceeds one is told.
const (
	mostRequest  = 64 << 10
	mostHeader   = 16 << 10
	pagesOfOne   = 4  // of a browser, which has six connections to a server
	pagesOfAll   = 16 // of all browsers
	runsOfPage   = 32
	runsOfAll    = 64
	mostLine     = 1 << 20 // bytes of a line that a command prints
	mostWaiting  = 2000    // lines that a page has not read
	keepAlive    = 10 * time.Second
	writePatient = 30 * time.Second
)

// An event is what a page is told: as JSON, with the number of the run that it is about.
type event struct {
	ID    int      `json:"id,omitempty"`
	Kind  string   `json:"kind"`
	N     float64  `json:"n"`
	HTML  string   `json:"html,omitempty"`
	Lines []string `json:"lines,omitempty"`
	Text  string   `json:"text,omitempty"`
	Page  int      `json:"page,omitempty"`
	Here  bool     `json:"here"`
	Boot  int64    `json:"boot,string"`
}

// A page is a browser's tab: its stream of events, and what it has started.
type page struct {
	number  int
	session string
	wake    chan struct{} // there is something to tell

	mu sync.Mutex
	// guarded by mu:
	latest map[[2]any]event // by run and kind: a newer one replaces one that was not read
	order  [][2]any
	lines  map[int]*unread // of runs
	runs   map[int]*run
	gone   bool
}

// unread is what a run has printed that the page has not read: of more than mostWaiting lines, the last ones.
type unread struct {
	lines   []string
	dropped int
}

func (u *unread) add(lines []string) {
	u.lines = append(u.lines, lines...)
	if n := len(u.lines) - mostWaiting; n >= mostWaiting { // seldom, since it copies
		u.lines, u.dropped = slices.Clone(u.lines[n:]), u.dropped+n
	}
}

// take returns the lines, and says how many there were before them.
func (u *unread) take() []string {
	n := max(0, len(u.lines)-mostWaiting)
	if u.dropped += n; u.dropped == 0 {
		return u.lines
	}
	return append([]string{fmt.Sprintf("… %d lines are left out, which came faster than they could be shown", u.dropped)}, u.lines[n:]...)
}

// tell has the page told of e. It does not block: a page that does not read loses pictures, and of counts only those
// that a newer one has replaced.
func (p *page) tell(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Kind == "lines" {
		if p.lines[e.ID] == nil {
			p.lines[e.ID] = new(unread)
		}
		p.lines[e.ID].add(e.Lines)
	} else {
		key := [2]any{e.ID, e.Kind}
		if _, waits := p.latest[key]; !waits {
			p.order = append(p.order, key)
		}
		p.latest[key] = e
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take returns what there is to tell: what runs have printed before their ends.
func (p *page) take() (all []event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, u := range p.lines {
		all = append(all, event{ID: id, Kind: "lines", Lines: u.take()})
	}
	for _, key := range p.order {
		all = append(all, p.latest[key])
	}
	clear(p.lines)
	clear(p.latest)
	p.order = nil
	return all
}

// open makes a page.
func (s *Server) open(session string) (*page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for _, p := range s.pages {
		if p.session == session {
			own++
		}
	}
	switch {
	case own >= pagesOfOne:
		return nil, fmt.Errorf("%d pages are open in this browser, which has no more connections: close one", own)
	case len(s.pages) >= pagesOfAll:
		return nil, fmt.Errorf("%d pages are open: close one", len(s.pages))
	}
	s.last++
	p := &page{number: s.last, session: session, wake: make(chan struct{}, 1), latest: map[[2]any]event{}, lines: map[int]*unread{}, runs: map[int]*run{}}
	s.pages[p.number] = p
	return p, nil
}

// shut ends a page, and all that it has started.
func (s *Server) shut(p *page) {
	s.mu.Lock()
	delete(s.pages, p.number)
	s.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	for _, r := range p.runs {
		r.cancel()
	}
}

// page returns one of a browser's pages.
func (s *Server) page(r *http.Request, number int) (*page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pages[number]
	if p == nil || p.session != s.session(r) {
		return nil, fmt.Errorf("there is no page %d of this browser: reload it", number)
	}
	return p, nil
}

// events is the stream of a page. It begins with its number.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	p, err := s.open(s.session(r))
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(text string) error {
		out.SetWriteDeadline(time.Now().Add(writePatient))
		if _, err := fmt.Fprint(w, text); err != nil {
			return err
		}
		return out.Flush()
	}
	if err != nil { // an event, since EventSource does not show the text of a refusal
		send("event: full\ndata: " + mustJSON(err.Error()) + "\n\n")
		return
	}
	defer s.shut(p)
	p.tell(event{Kind: "page", Page: p.number})
	p.tell(s.kernel())
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		text := ""
		select {
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		case <-alive.C:
			text = ": here\n\n"
		case <-p.wake:
			for _, e := range p.take() {
				text += "data: " + mustJSON(e) + "\n\n"
			}
		}
		if send(text) != nil {
			return
		}
	}
}

// kernel is the event that says which kernel is there.
func (s *Server) kernel() event {
	h, here := s.Runner.Kernel()
	e := event{Kind: "kernel", Here: here, Boot: h.Boot}
	switch {
	case !here && h.Boot == 0:
		e.Text = "waiting for the kernel"
	case !here:
		e.Text = "the kernel has ended"
	case h.Silent > 0:
		e.Here = false
		e.Text = fmt.Sprintf("no answer for %d s", int(h.Silent.Seconds()))
	case s.Sum != 0 && h.Symbols != s.Sum:
		e.Text = "another build of the kernel is there than the image of this launcher: no source is shown"
	default:
		e.Text = fmt.Sprintf("sonde %s, %s", clean(h.Version), count(h.CPUs, "CPU"))
		if h.Damaged > 0 {
			e.Text += ", " + count(h.Damaged, "message") + " lost"
		}
	}
	return e
}

// Changed tells all pages that the kernel has begun or ended.
func (s *Server) Changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pages {
		p.tell(s.kernel())
	}
}

// Watch tells all pages whenever a kernel begins, ends or falls silent, until ctx does. The Runner is an *Agent.
func (s *Server) Watch(ctx context.Context) {
	a := s.Runner.(*Agent)
	for gone := a.Gone; ; {
		select {
		case <-ctx.Done():
			return
		case <-a.Changed:
		case <-gone:
			gone = nil
		}
		s.Changed()
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
