package serve

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// Whoever has the token may do all that the prompt may, as root of the guest, and nothing of the host: files are read
// of the tree alone, by names that the server has made.

// mostSessions is how many browsers are known.
const mostSessions = 64

// policy is what a page may load: what this server has, and no script or style within it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// access lets in who has the token.
type access struct {
	token string
	port  string // of the cookie's name: cookies do not know ports

	mu       sync.Mutex
	sessions map[string]bool // guarded by mu
}

// random returns 128 random bits.
func random() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func (a *access) cookie() string { return "sonde-" + a.port }

// guard lets through only requests that a browser of the user's has meant.
func (a *access) guard(next http.Handler) http.Handler {
	next = http.NewCrossOriginProtection().Handler(a.known(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if host != "127.0.0.1" && host != "localhost" { // else a name of a stranger's could stand for this address
			http.Error(w, fmt.Sprintf("this server is 127.0.0.1 or localhost, not %q", host), http.StatusMisdirectedRequest)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostRequest)
		next.ServeHTTP(w, r)
	})
}

// known lets through requests with a cookie, and answers one with the token by a cookie. The token then leaves the
// address.
func (a *access) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if t := r.URL.Query().Get("t"); r.Method == http.MethodGet && r.URL.Path == "/" && t != "" {
			session, ok := "", subtle.ConstantTimeCompare([]byte(t), []byte(a.token)) == 1
			if ok {
				session, ok = a.newSession()
			}
			if !ok {
				http.Error(w, "this is not the address that the launcher has printed, or too many browsers have used it", http.StatusForbidden)
				return
			}
			http.SetCookie(w, &http.Cookie{Name: a.cookie(), Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if a.session(r) == "" {
			http.Error(w, "open the address that the launcher has printed, with all that is behind its question mark", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *access) newSession() (session string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sessions) >= mostSessions {
		return "", false
	}
	session = random()
	a.sessions[session] = true
	return session, true
}

// session returns which browser it is; "": none that is known.
func (a *access) session(r *http.Request) string {
	c, err := r.Cookie(a.cookie())
	if err != nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	found := ""
	for s := range a.sessions {
		if subtle.ConstantTimeCompare([]byte(c.Value), []byte(s)) == 1 {
			found = s
		}
	}
	return found
}
