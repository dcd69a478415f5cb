package serve

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"sonde/qemu/draw"
	"sonde/qemu/web/replay"
)

//go:embed page
var files embed.FS

var templates = template.Must(template.ParseFS(files, "page/*.html"))

// A Server shows a kernel.
type Server struct {
	Runner    Runner
	Functions []string // the names of all functions of the kernel's image
	Programs  []*Program
	Sum       uint32 // of its symbol table; 0: not known
	Root      string // of the tree, where the source is
	access

	ctx    context.Context
	cancel context.CancelFunc

	mu sync.Mutex
	// guarded by mu:
	pages map[int]*page
	last  int // number of a page or a run
	runs  int
}

// Listen serves on a free port of 127.0.0.1, and returns the address to open. There is no option for another one: a
// tunnel does it.
//
// Errors: those of net.Listen.
func (s *Server) Listen() (address string, err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("web: %w", err)
	}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: mostHeader}
	go server.Serve(l)
	context.AfterFunc(s.ctx, func() { server.Close() })
	return fmt.Sprintf("http://127.0.0.1:%s/?t=%s", s.port, s.token), nil
}

// Close ends the server, and all that its pages have started.
func (s *Server) Close() { s.cancel() }

// Handler makes the server ready and returns what answers requests.
func (s *Server) Handler() http.Handler {
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancel(context.Background())
	}
	s.token, s.sessions, s.pages = random(), map[string]bool{}, map[int]*page{}
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", s.index)
	m.HandleFunc("GET /static/{name}", static)
	m.HandleFunc("GET /events", s.events)
	m.HandleFunc("GET /find", answer(s.find))
	m.HandleFunc("GET /source", answer(s.source))
	m.HandleFunc("GET /save", s.save)
	m.HandleFunc("POST /start", answer(s.start))
	m.HandleFunc("POST /stop", answer(s.stop))
	m.HandleFunc("POST /remember", answer(s.remember))
	m.HandleFunc("POST /glass", answer(s.glass))
	m.HandleFunc("POST /replay", answer(s.replay))
	return s.guard(m)
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	templates.ExecuteTemplate(w, "page.html", map[string]any{"Tiers": tiers, "Kinds": replay.Kinds, "Scripts": map[string]string{
		"hist": "script of the histogram", "stacks": "script of the stacks", "timeline": "script of the time line",
	}})
}

// static has the styles and scripts of the page, of the replay and of pictures.
func static(w http.ResponseWriter, r *http.Request) {
	text := map[string]string{"replay.css": replay.CSS, "replay.js": replay.JS, "draw.css": draw.ChartCSS + draw.FlameCSS, "draw.js": draw.FlameJS}[r.PathValue("name")]
	if text == "" {
		b, err := files.ReadFile("page/" + r.PathValue("name"))
		if err != nil || strings.HasSuffix(r.PathValue("name"), ".html") {
			http.NotFound(w, r)
			return
		}
		text = string(b)
	}
	kind := "text/javascript; charset=utf-8"
	if strings.HasSuffix(r.PathValue("name"), ".css") {
		kind = "text/css; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	io.WriteString(w, text)
}

// A failure is what a request could not do, as a kernel says it.
type failure struct {
	status int
	why    string
}

func (f *failure) Error() string { return f.why }

func bad(format string, args ...any) error {
	return &failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// answer answers a request with JSON: what f returns, or {"error": why}.
func answer(f func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			var f *failure
			status := http.StatusBadGateway
			if errors.As(err, &f) {
				status = f.status
			}
			w.WriteHeader(status)
			v = map[string]string{"error": clean(err.Error())}
		}
		io.WriteString(w, mustJSON(v))
	}
}

// body reads the JSON of a request.
func body[T any](r *http.Request) (v T, err error) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return v, &failure{http.StatusRequestEntityTooLarge, fmt.Sprintf("a request has at most %d bytes", large.Limit)}
		}
		return v, bad("the request is not what the page sends: %v", err)
	}
	return v, nil
}

// ask has the kernel run a command that ends by itself, and returns what it prints: again, if messages were lost.
func (s *Server) ask(ctx context.Context, words ...string) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for range 20 {
		before, _ := s.Runner.Kernel()
		text, err = s.once(ctx, words...)
		if after, _ := s.Runner.Kernel(); after.Damaged == before.Damaged || ctx.Err() != nil {
			break
		}
	}
	return text, err
}

func (s *Server) once(ctx context.Context, words ...string) (string, error) {
	var out, errs bytes.Buffer
	status, err := s.Runner.Run(ctx, words, &bounded{&out, maxAnswer}, &bounded{&errs, maxAnswer})
	switch {
	case err != nil:
		return "", err
	case status != 0:
		return "", bad("%s", strings.TrimSpace(strings.TrimPrefix(errs.String(), words[0]+": ")))
	}
	return out.String(), nil
}

// maxAnswer is how much a command may print that is asked for an answer.
const maxAnswer = 8 << 20

// bounded is a writer that drops what is too much.
type bounded struct {
	*bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, b.most-b.Len()))])
	return len(p), nil
}

// clean is text that may come from anywhere, as it can be shown in lines.
func clean(s string) string { return draw.Clean(s, "\n\t") }
