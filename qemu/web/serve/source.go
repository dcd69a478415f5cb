package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"net/http"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sonde/kallsyms"
)

const (
	mostFound  = 50
	mostSource = 1 << 20 // bytes of a file
)

// explained is what explain -j prints (optprobe/explain/schema.json).
type explained struct {
	Version        int
	Function, File string
	First, Last    int
	Lines          []struct {
		Line, Copies int
		Places       []struct {
			Symbol        string
			Offset        uint64
			Way, Why, Hit string
			Args          []string
		}
	}
}

// A Source is a function, or lines of a file, with what a probe on each line would be.
type Source struct {
	Function string `json:"function"`
	Base     string `json:"base"` // the function as one types it
	File     string `json:"file"` // without the module's name
	First    int    `json:"first"`
	Last     int    `json:"last"`
	Lines    []Line `json:"-"`
	Others   string `json:"others"`  // where the page itself calls this: what has scripts leave that out
	Program  bool   `json:"program"` // it is no function of the kernel
	HTML     string `json:"html"`
}

// A Line is one of them.
type Line struct {
	Number int
	Mark   string // jump, breakpoint, refused, or nothing: there is no code
	Now    bool   // it is how a probe there is hit now
	Sign   string
	Says   string // what the mark means here, and why
	Place  string // as scripts have it
	Code   []Token
}

// A Token is a piece of a line: of the kind comment, string, keyword or call, or plain.
type Token struct{ Kind, Text string }

// signs are the marks, which differ by shape: a colour alone is not enough for everybody.
var signs = map[string]string{"jump": "↷", "breakpoint": "●", "refused": "✕"}

// find lists functions whose names have what was typed in them.
func (s *Server) find(r *http.Request) (any, error) {
	typed, from := strings.ToLower(r.FormValue("q")), r.FormValue("from")
	type found struct {
		Name string `json:"name"`
		Base string `json:"base"`
		rank int
	}
	all := []found{}
	add := func(name, cut, base string) {
		lower := strings.ToLower(cut)
		if typed == "" || !strings.Contains(lower, typed) {
			return
		}
		f := found{name, base, 3}
		switch last := lower[strings.LastIndexByte(lower, '.')+1:]; {
		case lower == typed || strings.ToLower(f.Base) == typed:
			f.rank = 0
		case last == typed:
			f.rank = 1
		case strings.HasPrefix(last, typed):
			f.rank = 2
		}
		if from != "" && packageOf(name) == packageOf(from) {
			f.rank -= 4
		}
		all = append(all, f)
	}
	for _, name := range s.Functions {
		add(name, kallsyms.Cut(name), kallsyms.Base(name))
	}
	for _, p := range s.Programs {
		for _, name := range p.functions() {
			plain := strings.ReplaceAll(name, `"`, "")
			add(plain, plain, name)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return len(a.Name) - len(b.Name)
	})
	more := max(0, len(all)-mostFound)
	return map[string]any{"found": all[:len(all)-more], "more": more}, nil
}

// packageOf returns the path of a function's package.
func packageOf(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	return name[:slash+max(0, dot)]
}

// place fits what may be asked for: a function, or lines of a file. What begins with a dash would be an option.
var place = regexp.MustCompile(`^[^-\s\x00][^\x00\n]{0,500}$`)

// source returns a function, or lines of a file, as HTML.
func (s *Server) source(r *http.Request) (any, error) {
	what := r.FormValue("f")
	if !place.MatchString(what) {
		return nil, bad("%q is no function, and not as vfs/io.go:24-45", what)
	}
	var src *Source
	var err error
	if p, function := s.program(what); p != nil {
		src, err = p.source(function)
	} else {
		src, err = s.kernelSource(r.Context(), what)
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "source.html", src); err != nil {
		return nil, err
	}
	src.HTML = b.String()
	return src, nil
}

// kernelSource is a function of the kernel, or lines of a file.
func (s *Server) kernelSource(ctx context.Context, what string) (*Source, error) {
	text, err := s.ask(ctx, "explain", "-j", what)
	if err != nil {
		return nil, err
	}
	var e explained
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return nil, fmt.Errorf("explain printed what is no JSON: %.200q", text)
	}
	h, _ := s.Runner.Kernel()
	return s.mark(&e, s.Sum == 0 || h.Symbols == s.Sum), nil
}

// mark puts together the file, if it is that of the kernel, and what the kernel says of its lines.
func (s *Server) mark(e *explained, same bool) *Source {
	file := strings.TrimPrefix(e.File, "sonde/")
	src := &Source{Function: e.Function, Base: kallsyms.Base(e.Function), File: file, First: e.First, Last: e.Last, Others: others(e.File)}
	var code [][]Token
	if same && file != e.File {
		code = s.read(file)
	}
	first := e.First
	for first > 1 && first <= len(code) && comment(code[first-2]) {
		first--
	}
	last := e.Last
	if last < len(code) { // the closing brace may have no code
		last++
	}
	if last > len(code) && len(code) > 0 {
		last = len(code)
	}
	at := map[int]int{}
	for i, l := range e.Lines {
		at[l.Line] = i
		if len(code) == 0 {
			src.Lines = append(src.Lines, s.line(e, i, file))
		}
	}
	for n := first; n <= last && len(code) > 0; n++ {
		l := Line{Number: n}
		if i, has := at[n]; has {
			l = s.line(e, i, file)
		}
		l.Code = code[n-1]
		src.Lines = append(src.Lines, l)
	}
	return src
}

// comment reports whether a line is one.
func comment(line []Token) bool {
	return len(line) > 0 && line[0].Kind == "comment"
}

// line is what a probe on a line would be: of several places, the worst that can have one.
func (s *Server) line(e *explained, i int, file string) Line {
	from := e.Lines[i]
	l := Line{Number: from.Line, Place: fmt.Sprintf("line:%s:%d", file, from.Line)}
	can, parts := 0, map[string]bool{}
	var why []string
	for _, p := range from.Places {
		if p.Way != "refused" {
			can++
			parts[p.Symbol] = true
		}
		if p.Way != "refused" && (l.Mark == "" || p.Way == "breakpoint") {
			l.Mark = p.Way
		}
		if p.Hit != "" {
			l.Mark, l.Now = p.Hit, true
		}
		if p.Why != "" && !slices.Contains(why, p.Why) {
			why = append(why, p.Why)
		}
	}
	says := map[string]string{"jump": "a jump", "breakpoint": "a breakpoint"}[l.Mark]
	switch {
	case can == 0:
		l.Mark, says = "refused", "there can be no probe"
	case l.Now:
		says = "a probe is here, hit by " + says
	default:
		says = "a probe would be hit by " + says
	}
	if n := len(from.Places); n > 1 {
		says += fmt.Sprintf(", at %d of %d places", can, n)
	}
	l.Sign, l.Says = signs[l.Mark], clean(strings.Join(append([]string{says}, why...), ": "))
	return l
}

// read returns the lines of a file of the tree, in colours; nil: it is not there, or too large.
func (s *Server) read(file string) [][]Token {
	if s.Root == "" || !filepath.IsLocal(file) || path.Ext(file) != ".go" {
		return nil
	}
	return readSource(filepath.Join(s.Root, filepath.FromSlash(file)))
}

// colour cuts Go into lines of tokens; of other languages, it finds comments, strings and some keywords.
func colour(text []byte) [][]Token {
	lines := [][]Token{nil}
	add := func(kind string, text string) {
		for i, part := range strings.Split(text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if part != "" {
				last := len(lines) - 1
				lines[last] = append(lines[last], Token{kind, clean(part)})
			}
		}
	}
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var sc scanner.Scanner
	sc.Init(file, text, nil, scanner.ScanComments)
	at := 0
	name := [2]int{-1, -1} // that was just scanned
	flush := func(until int) {
		if until > at {
			add("", string(text[at:until]))
			at = until
		}
	}
	for {
		pos, tok, lit := sc.Scan()
		off := file.Offset(pos)
		if name[0] >= 0 {
			flush(name[0])
			kind := ""
			if tok == token.LPAREN && off == name[1] {
				kind = "call"
			}
			add(kind, string(text[name[0]:name[1]]))
			at, name[0] = name[1], -1
		}
		if tok == token.EOF {
			flush(len(text))
			return lines
		}
		kind := ""
		switch {
		case tok == token.IDENT:
			name = [2]int{off, off + len(lit)}
			continue
		case tok == token.COMMENT:
			kind = "comment"
		case tok.IsKeyword():
			kind = "keyword"
		case tok == token.STRING || tok == token.CHAR:
			kind = "string"
		default:
			continue
		}
		flush(off)
		end := off + len(lit)
		add(kind, string(text[off:end]))
		at = end
	}
}

// others is what has a script leave out hits that the page itself causes: in files of which the agent and scripts execute
// code.
func others(file string) string {
	for _, p := range []string{"kernel/wire/", "kernel/serial/", "kernel/irq/", "shell/agent.go", "kernel/console/link", "trace/", "runtime/", "sync/", "time/", "fmt/", "internal/"} {
		if strings.HasPrefix(strings.TrimPrefix(file, "sonde/"), p) {
			return `/comm != "agent" && comm != "bt"/ `
		}
	}
	return ""
}
