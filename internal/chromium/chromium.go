// Package chromium shows pages in Chromium, for tests. A test is skipped where there is none.
package chromium

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"
)

// limit ends a hang.
const limit = 5 * time.Minute

// around shows a page in so many pixels, fewer than a window has, and passes on what the page tells.
const around = `<!doctype html><html style="color-scheme: light dark"><iframe src="page" width="%d" height="900" style="border: 0"></iframe>
<script>onmessage = e => fetch("told", {method: "POST", body: e.data});</script></html>`

// Tells shows a page so many pixels wide, and returns what it tells by parent.postMessage(TEXT, "*").
func Tells(t *testing.T, page string, width int, dark bool) string {
	t.Helper()
	if testing.Short() {
		t.Skip("takes a browser")
	}
	browser := Find()
	if browser == "" {
		t.Skip("skipped: no chromium")
	}
	told := make(chan string, 1)
	s := httptest.NewServer(server(page, width, told))
	defer s.Close()
	scheme := 1
	if dark {
		scheme = 0
	}
	args := []string{"--headless", "--enable-logging=stderr", "--disable-gpu", "--disable-background-networking", "--user-data-dir=" + t.TempDir(), "--window-size=1400,1000",
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), s.URL + "/around"}
	if os.Geteuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	cmd := exec.Command(browser, args...)
	said := &log{console: make(chan string, 1)}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case text := <-told:
		stop(cmd, ended)
		return text
	case line := <-said.console:
		stop(cmd, ended)
		t.Fatalf("the page has an error: %s", line)
	case err := <-ended:
		t.Fatalf("chromium has ended: %v\n%s", err, said.all.String())
	case <-time.After(limit):
		stop(cmd, ended)
		t.Fatalf("the page has told nothing\n%s", said.all.String())
	}
	return ""
}

// Find returns a browser; "": there is none.
func Find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// A log is what the browser says. What a page's script did wrong, or its policy forbids, is there with CONSOLE.
type log struct {
	all     bytes.Buffer
	console chan string
}

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.all.Write(p)
	for line := range bytes.Lines(p) {
		if bytes.Contains(line, []byte("CONSOLE")) && (bytes.Contains(line, []byte("Uncaught")) || bytes.Contains(line, []byte("Content Security Policy"))) {
			select {
			case l.console <- string(line):
			default:
			}
		}
	}
	return len(p), nil
}

// stop ends the browser, which ends its processes: they use its folder.
func stop(cmd *exec.Cmd, ended <-chan error) {
	cmd.Process.Signal(os.Interrupt)
	select {
	case <-ended:
	case <-time.After(limit):
		cmd.Process.Kill()
		<-ended
	}
}

// server has the page, the page around it, and a place to tell.
func server(page string, width int, told chan<- string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /around", func(w http.ResponseWriter, _ *http.Request) { html(w, fmt.Sprintf(around, width)) })
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) { html(w, page) })
	mux.HandleFunc("POST /told", func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		select {
		case told <- string(b):
		default: // it has told before
		}
	})
	return mux
}

func html(w http.ResponseWriter, page string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, page)
}
