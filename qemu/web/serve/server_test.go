package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// patience ends what hangs.
const patience = 2 * time.Minute

// A fakeKernel answers by a function.
type fakeKernel struct {
	run     func(ctx context.Context, words []string, out, errs io.Writer) (int, error)
	damaged atomic.Int32 // messages that were lost
}

func (k *fakeKernel) Run(ctx context.Context, words []string, out, errs io.Writer) (int, error) {
	return k.run(ctx, words, out, errs)
}

func (k *fakeKernel) Kernel() (Hello, bool) {
	return Hello{Version: "1.0", CPUs: 2, Symbols: 7, Boot: 3, Damaged: int(k.damaged.Load())}, true
}

// waits runs commands until they get ^C, and passes on that they have begun and ended.
func waits(begun, ended chan string) *fakeKernel {
	return &fakeKernel{run: func(ctx context.Context, words []string, out, _ io.Writer) (int, error) {
		begun <- strings.Join(words, " ")
		<-ctx.Done()
		ended <- words[0]
		return 130, nil
	}}
}

// A client is a browser.
type client struct {
	*testing.T
	http.Client
	base, token string
}

func served(t *testing.T, k Runner) (*client, *Server) {
	t.Helper()
	top := t.TempDir()
	root := filepath.Join(top, "tree")
	os.MkdirAll(filepath.Join(root, "kernel"), 0o755)
	os.WriteFile(filepath.Join(root, "kernel/x.go"), []byte("package x\n\n// F does \"it\".\nfunc F(s string) int {\n\treturn len(s + `</script>` + g(s))\n}\n"), 0o644)
	for _, file := range []string{filepath.Join(top, "secret.go"), filepath.Join(root, "kernel/x.s")} { // what must not be shown
		os.WriteFile(file, []byte("package secret\n\n\nfunc F() {\n}\n"), 0o644)
	}
	s := &Server{Runner: k, Sum: 7, Root: root, Functions: []string{"sonde/kernel/x.F", "sonde/kernel/x.(*T).F", "sonde/kernel/y.FF", "main.main"}}
	address, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	base, token, _ := strings.Cut(address, "/?t=")
	return newClient(t, base, token), s
}

func newClient(t *testing.T, base, token string) *client {
	jar, _ := cookiejar.New(nil)
	c := &client{T: t, base: base, token: token, Client: http.Client{Jar: jar, Timeout: patience}}
	if token != "" {
		if status, _ := c.get("/?t=" + token); status != http.StatusOK {
			t.Fatalf("the address is answered by %d", status)
		}
	}
	return c
}

func (c *client) send(method, path, body string, header ...string) (status int, text string, h http.Header) {
	c.Helper()
	r, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	a, err := c.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer a.Body.Close()
	b, _ := io.ReadAll(a.Body)
	return a.StatusCode, string(b), a.Header
}

func (c *client) get(path string) (int, string) {
	c.Helper()
	status, text, _ := c.send("GET", path, "")
	return status, text
}

func (c *client) post(path string, v any) (status int, answer map[string]any) {
	c.Helper()
	status, text, _ := c.send("POST", path, mustJSON(v))
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		c.Fatalf("%s: %d, %q", path, status, text)
	}
	return status, answer
}

// A stream is a page's events.
type stream struct {
	*testing.T
	page   int
	cancel context.CancelFunc
	events chan event
	other  chan string // what is no event of the page
}

func (c *client) stream() *stream {
	c.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.Cleanup(cancel)
	r, _ := http.NewRequestWithContext(ctx, "GET", c.base+"/events", nil)
	a, err := c.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	s := &stream{T: c.T, cancel: cancel, events: make(chan event, 10000), other: make(chan string, 10)}
	go func() {
		in := bufio.NewReader(a.Body)
		for full := false; ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			data, ok := strings.CutPrefix(line, "data: ")
			var e event
			switch {
			case strings.HasPrefix(line, "event: full"):
				full = true
			case full && ok:
				s.other <- data
			case ok && json.Unmarshal([]byte(data), &e) == nil:
				s.events <- e
			}
		}
	}()
	return s
}

// next waits for an event of a kind.
func (s *stream) next(kind string) event {
	s.Helper()
	for {
		select {
		case e := <-s.events:
			if e.Kind == kind {
				return e
			}
		case <-time.After(patience):
			s.Fatalf("no event of the kind %s comes", kind)
		}
	}
}

func (c *client) opened() *stream {
	c.Helper()
	s := c.stream()
	s.page = s.next("page").Page
	return s
}

// TestWhoMayConnect is what "who may connect" promises, request by request.
func TestWhoMayConnect(t *testing.T) {
	c, _ := served(t, waits(make(chan string, 10), make(chan string, 10)))
	stranger := newClient(t, c.base, "")
	for _, path := range []string{"/", "/events", "/find?q=F", "/static/app.js", "/source?f=x.F", "/?t=", "/?t=" + strings.Repeat("0", 32)} {
		if status, _ := stranger.get(path); status != http.StatusForbidden {
			t.Errorf("without the token, %s is answered by %d", path, status)
		}
	}
	_, _, h := c.send("GET", "/", "")
	for name, want := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
	} {
		if h.Get(name) != want {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
	for _, r := range []struct {
		what, method, path string
		header             []string
		want               int
	}{
		{"a name of a stranger's", "GET", "/", []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		{"another address", "GET", "/", []string{"Host", "10.0.0.1:80"}, http.StatusMisdirectedRequest},
		{"localhost, through a tunnel", "GET", "/", []string{"Host", "localhost:9999", "Cookie", c.Jar.Cookies(mustURL(c.base))[0].String()}, http.StatusOK},
		{"another site", "POST", "/start", []string{"Origin", "http://evil.example"}, http.StatusForbidden},
		{"another site, as browsers say it", "POST", "/start", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"what changes something, by GET", "GET", "/start", nil, http.StatusMethodNotAllowed},
		{"a file of the host", "GET", "/static/..%2fserver.go", nil, http.StatusNotFound},
		{"a template", "GET", "/static/page.html", nil, http.StatusNotFound},
	} {
		if status, text, _ := c.send(r.method, r.path, "{}", r.header...); status != r.want {
			t.Errorf("%s: %d %s", r.what, status, text)
		}
	}
	jar := c.Jar.Cookies(mustURL(c.base))
	if len(jar) != 1 || !strings.HasPrefix(jar[0].Name, "sonde-") || strings.Contains(jar[0].Value, c.token) {
		t.Errorf("cookies: %v", jar)
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if status, _, h := c.send("GET", "/?t="+c.token, ""); status != http.StatusSeeOther || h.Get("Location") != "/" ||
		!strings.Contains(h.Get("Set-Cookie"), "HttpOnly") || !strings.Contains(h.Get("Set-Cookie"), "SameSite=Strict") {
		t.Errorf("%d, %v", status, h)
	}
}

func mustURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// TestLimits: what exceeds one is refused in words.
func TestLimits(t *testing.T) {
	begun, ended := make(chan string, 1000), make(chan string, 1000)
	c, _ := served(t, waits(begun, ended))
	p := c.opened()
	for i := range runsOfPage {
		if status, v := c.post("/start", request{Page: p.page, Kind: "line", Script: "sleep 1"}); status != http.StatusOK || v["command"] != "sh -c 'sleep 1'" {
			t.Fatalf("%d: %d, %v", i, status, v)
		}
	}
	if status, v := c.post("/start", request{Page: p.page, Kind: "log"}); status != http.StatusTooManyRequests || !strings.Contains(fmt.Sprint(v), "stop one") {
		t.Errorf("%d, %v", status, v)
	}
	for range pagesOfOne - 1 {
		c.opened()
	}
	full := c.stream()
	select {
	case text := <-full.other:
		if !strings.Contains(text, "4 pages are open in this browser") {
			t.Error(text)
		}
	case <-time.After(patience):
		t.Error("a fifth page is told nothing")
	}
	if status, _, _ := c.send("POST", "/start", strings.Repeat(" ", mostRequest+1)+"{}"); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large request: %d", status)
	}
	other := newClient(t, c.base, c.token)
	if status, _ := other.post("/start", request{Page: p.page, Kind: "log"}); status != http.StatusGone {
		t.Errorf("another browser starts something for this one's page: %d", status)
	}
	p.cancel() // the tab is closed
	for range runsOfPage {
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatal("a tab was closed, and what it has started goes on")
		}
	}
}

func TestBadRequests(t *testing.T) {
	c, _ := served(t, waits(make(chan string, 100), make(chan string, 100)))
	p := c.opened()
	for _, r := range []request{
		{Kind: "count", Place: "line:x.go:3 { system(\"rm\") } kprobe:y"}, {Kind: "count", Place: "-x"}, {Kind: "count"}, {Kind: "nothing"}, {Kind: "line", Script: "a\x00b"},
	} {
		r.Page = p.page
		if status, v := c.post("/start", r); status != http.StatusBadRequest || v["error"] == "" {
			t.Errorf("%+v: %d, %v", r, status, v)
		}
	}
	for path, body := range map[string]string{"/start": "{", "/stop": `{"page":1,"other":2}`, "/glass": `{"place":"-o"}`, "/replay": `{"Text":"{}"}`} {
		if status, text, _ := c.send("POST", path, body); status != http.StatusBadRequest || !strings.Contains(text, "error") {
			t.Errorf("%s %s: %d, %s", path, body, status, text)
		}
	}
	for _, f := range []string{"", "-j", "a%0ab"} {
		if status, _ := c.get("/source?f=" + f); status != http.StatusBadRequest {
			t.Errorf("source of %q: %d", f, status)
		}
	}
}

// TestSource: the file of the tree with the kernel's marks, and nothing of a file that is elsewhere.
func TestSource(t *testing.T) {
	file := "sonde/kernel/x.go"
	k := &fakeKernel{run: func(_ context.Context, words []string, out, errs io.Writer) (int, error) {
		if words[2] != "x.F" {
			io.WriteString(errs, "explain: there is no symbol \x1b[31m"+words[2]+"\n")
			return 1, nil
		}
		fmt.Fprintf(out, `{"version":1,"function":"sonde/kernel/x.F","file":%q,"first":4,"last":5,"lines":[
			{"line":4,"copies":1,"places":[{"symbol":"sonde/kernel/x.F","offset":0,"way":"jump","why":"","hit":"breakpoint","args":[]}]},
			{"line":5,"copies":2,"places":[{"symbol":"a","offset":1,"way":"refused","why":"<b>no</b>","hit":"","args":[]},{"symbol":"b","offset":1,"way":"breakpoint","why":"a loop","hit":"","args":[]}]}]}`, file)
		return 0, nil
	}}
	c, _ := served(t, k)
	get := func() (html string) {
		_, text := c.get("/source?f=x.F")
		var v Source
		if err := json.Unmarshal([]byte(text), &v); err != nil || v.Function != "sonde/kernel/x.F" || v.Base != "x.F" {
			t.Fatalf("%v: %s", err, text)
		}
		return v.HTML
	}
	html := get()
	for _, want := range []string{
		`<li id="L3" data-line="3"><span class="mark">`, `<span class="comment">// F does &#34;it&#34;.</span>`,
		`<li id="L4" data-line="4" data-place="line:kernel/x.go:4" data-mark="breakpoint" data-now>`, `a probe is here, hit by a breakpoint`,
		`data-place="line:kernel/x.go:5" data-mark="breakpoint"><button`, `at 1 of 2 places: &lt;b&gt;no&lt;/b&gt;: a loop`,
		"<span class=\"string\">`&lt;/script&gt;`</span>", `data-call="g"`, `<span class="keyword">func</span>`, `<li id="L6"`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("there is no %s in\n%s", want, html)
		}
	}
	for _, file = range []string{"sonde/../secret.go", "sonde//etc/x.go", "runtime/proc.go", "sonde/kernel/x.s"} {
		if html := get(); strings.Contains(html, "<span class=\"keyword\">") || !strings.Contains(html, `<li id="L4"`) {
			t.Errorf("%s: %s", file, html)
		}
	}
	if status, text := c.get("/source?f=nosuch"); status != http.StatusBadRequest || !strings.Contains(text, "there is no symbol .[31mnosuch") {
		t.Errorf("%d, %s", status, text)
	}
	if _, text := c.get("/find?q=F&from=sonde/kernel/y.G"); !strings.HasPrefix(text, `{"found":[{"name":"sonde/kernel/y.FF"`) || !strings.Contains(text, "x.(*T).F") || strings.Contains(text, "main") {
		t.Error(text)
	}
}
