package lang

import (
	"strings"
)

// Limits of a script.
const (
	MaxBytes  = 64 << 10
	MaxProbes = 512
	maxDepth  = 64
)

// parser is a recursive descent, one token ahead. Everything that is wrong is thrown.
type parser struct {
	scanner
	tok   token
	prev  Span // of the token before tok
	depth int
}

// Parse reads a script. Name is what errors call it.
//
// Errors: *Error.
func Parse(name, script string) (s *Script, err error) {
	defer catch(&err)
	p := parser{scanner: scanner{Source: &Source{name, script}}}
	s = &Script{Source: p.Source}
	if len(script) > MaxBytes {
		p.fail(Span{}, "the script has %d bytes, more than %d", len(script), MaxBytes)
	}
	for p.space(); p.at < len(script); p.space() {
		p.top(s)
	}
	if len(s.Probes) == 0 {
		p.fail(Span{len(script), len(script)}, "the script has no probe")
	}
	return s, nil
}

// top reads a declaration or a probe. The scanner is at its first letter; no token has been read.
func (p *parser) top(s *Script) {
	from := p.at
	if p.Text[from] == '#' {
		p.failHint(Span{from, p.endOfLine()}, "declare what is used of it with struct", "directives of the C preprocessor are not supported")
	}
	p.advance()
	switch name := p.tok; {
	case name.is("config") && p.follows("="):
		p.config(s)
	case (name.is("struct") || name.is("union") || name.is("enum")) && !p.follows(":"):
		p.structure(s)
	case name.is("let"):
		p.mapDecl(s)
	case (name.is("import") || name.is("macro") || name.is("fn")) && !p.follows(":"):
		p.fail(name.Span, "%s is not supported", name.text)
	default:
		p.at = from
		p.probe(s)
	}
}

// follows reports whether a sign comes next after tok.
func (p *parser) follows(sign string) bool {
	rest := strings.TrimLeft(p.Text[p.at:], " \t\r\n")
	return strings.HasPrefix(rest, sign)
}

func (p *parser) endOfLine() int {
	if n := strings.IndexByte(p.Text[p.at:], '\n'); n >= 0 {
		return p.at + n
	}
	return len(p.Text)
}

func (p *parser) advance() { p.prev, p.tok = p.tok.Span, p.next() }

// accept reads a sign or a word if it is next.
func (p *parser) accept(s string) bool {
	if !p.tok.is(s) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(s string) Span {
	if !p.tok.is(s) {
		p.unexpected("\"" + s + "\"")
	}
	p.advance()
	return p.prev
}

// last is expect for the last token of a declaration: what follows is not cut into tokens yet.
func (p *parser) last(s string) {
	if !p.tok.is(s) {
		p.unexpected("\"" + s + "\"")
	}
	p.at = p.tok.To
}

func (p *parser) unexpected(wanted string) {
	found := "the end of the script"
	if p.tok.kind != endOfText {
		found = "\"" + printable(p.Text[p.tok.From:p.tok.To]) + "\""
	}
	p.fail(p.tok.Span, "found %s, expected %s", found, wanted)
}

func (p *parser) word(what string) token {
	t := p.tok
	if t.kind != word {
		p.unexpected(what)
	}
	p.advance()
	return t
}

// nest is called when something begins that may contain itself; the result ends it.
func (p *parser) nest() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.tok.Span, "this is nested %d deep, and no more can be", maxDepth)
	}
	return func() { p.depth-- }
}

// config reads "config = { name = value; … }".
func (p *parser) config(s *Script) {
	p.advance()
	p.expect("=")
	p.expect("{")
	for !p.tok.is("}") {
		name := p.word("the name of a setting")
		p.expect("=")
		if p.tok.kind != number && p.tok.kind != word && p.tok.kind != text {
			p.unexpected("a value")
		}
		value := p.tok
		if value.kind == number {
			value.text = strings.ReplaceAll(value.text, "_", "")
		}
		p.advance()
		s.Config = append(s.Config, Setting{name.to(value.Span), name.text, value.text})
		if !p.accept(";") && !p.tok.is("}") {
			p.unexpected("\";\" or \"}\"")
		}
	}
	p.last("}")
	if rest := p.scanner; rest.next().is(";") {
		p.advance()
	}
}

// mapDecl reads "let @name = hash(1000);".
func (p *parser) mapDecl(s *Script) {
	p.advance()
	name := p.tok
	if name.kind != mapName {
		p.unexpected("the name of a map: variables are declared in probes")
	}
	p.advance()
	p.expect("=")
	kind := p.word("the type of a map")
	p.expect("(")
	entries := p.tok
	if entries.kind != number {
		p.unexpected("how many keys the map may have")
	}
	p.advance()
	p.expect(")")
	p.last(";")
	s.Maps = append(s.Maps, MapDecl{name.to(kind.Span), name.text, kind.text, entries.value})
}

// probe reads attach points, a filter and a block.
func (p *parser) probe(s *Script) {
	defer p.nest()()
	probe := &Probe{}
	for {
		probe.Points = append(probe.Points, p.point())
		p.space()
		if p.at == len(p.Text) || p.Text[p.at] != ',' {
			break
		}
		p.at++
	}
	p.advance()
	if p.tok.is("/") {
		p.advance()
		probe.Filter = p.expr()
		if p.tok.kind != filterEnd {
			p.unexpected("the \"/\" that ends the filter, and \"{\" after it")
		}
		p.advance()
	}
	p.expect("{")
	probe.Body = p.statements()
	p.last("}")
	s.Probes = append(s.Probes, probe)
	if len(s.Probes) > MaxProbes {
		p.fail(p.tok.Span, "the script has more than %d probes", MaxProbes)
	}
}

// point reads an attach point: everything up to a blank, a comma, or the brace that begins the block,
// but in quotes and brackets.
func (p *parser) point() *Point {
	p.space()
	from, quoted, depth := p.at, false, 0
	var b strings.Builder
	for ; p.at < len(p.Text); p.at++ {
		c := p.Text[p.at]
		if c == '"' {
			quoted = !quoted
			continue
		}
		if !quoted {
			if strings.IndexByte(" \t\r\n{", c) >= 0 || c == ',' && depth == 0 {
				break
			}
			if c == '[' {
				depth++
			} else if c == ']' {
				depth--
			}
		}
		b.WriteByte(c)
	}
	span := Span{from, p.at}
	if quoted {
		p.fail(span, "this string has no end")
	}
	if b.Len() == 0 {
		p.advance()
		p.unexpected("a probe, such as kprobe:vfs.Read")
	}
	return p.pointOf(span, b.String())
}

// Providers are by name: how many options each may have.
var providers = map[string][2]int{"kprobe": {1, 1}, "kretprobe": {1, 1}, "uprobe": {2, 2}, "uretprobe": {2, 2}, "watchpoint": {1, 3}, "asyncwatchpoint": {1, 3},
	"line": {2, 2}, "inline": {1, 1}, "fentry": {1, 1}, "fexit": {1, 1}, "tracepoint": {2, 2}, "rawtracepoint": {1, 2}, "interval": {1, 2}, "profile": {1, 2},
	"software": {1, 2}, "hardware": {1, 2}, "usdt": {2, 3}, "iter": {1, 2}, "bench": {1, 1}, "test": {1, 1}, "begin": {0, 0}, "end": {0, 0}, "self": {2, 2}}

// short are other names of providers.
var short = map[string]string{"k": "kprobe", "kr": "kretprobe", "u": "uprobe", "ur": "uretprobe", "w": "watchpoint", "aw": "asyncwatchpoint", "f": "fentry", "fr": "fexit",
	"kfunc": "fentry", "kretfunc": "fexit", "t": "tracepoint", "rt": "rawtracepoint", "i": "interval", "p": "profile", "s": "software", "h": "hardware", "U": "usdt", "it": "iter",
	"BEGIN": "begin", "END": "end"}

func (p *parser) pointOf(span Span, s string) *Point {
	provider, rest, _ := strings.Cut(s, ":")
	if full, ok := short[provider]; ok {
		provider = full
	}
	count, ok := providers[provider]
	if !ok {
		p.failHint(Span{span.From, min(span.To, span.From+max(1, strings.IndexByte(s+":", ':')))}, didYouMean(provider, keys(providers)), "there are no probes of the type %q", printable(provider))
	}
	point := &Point{Span: span, Provider: provider, Text: provider}
	if strings.Contains(s, ":") {
		point.Options = options(provider, rest, count[1])
		point.Text += ":" + rest
	}
	switch n := len(point.Options); {
	case n < count[0]:
		p.fail(span, "%s needs more after it: %s", provider, usage[provider])
	case n > count[1]:
		p.fail(span, "%s takes no more after it: %s", provider, usage[provider])
	}
	for _, o := range point.Options {
		if o == "" {
			p.fail(span, "something is missing between the colons: %s", usage[provider])
		}
	}
	return point
}

// options cuts what follows a provider's name. The names of functions may have colons; of a program, the
// file comes first.
func options(provider, rest string, most int) []string {
	switch provider {
	case "kprobe", "kretprobe", "inline", "fentry", "fexit":
		return []string{rest}
	case "uprobe", "uretprobe":
		return strings.SplitN(rest, ":", most)
	case "line":
		if at := strings.LastIndexByte(rest, ':'); at >= 0 {
			return []string{rest[:at], rest[at+1:]}
		}
	}
	return strings.Split(rest, ":")
}

// usage says how an attach point is written.
var usage = map[string]string{"kprobe": "kprobe:FUNCTION[+OFFSET]", "kretprobe": "kretprobe:FUNCTION", "uprobe": "uprobe:FILE:FUNCTION[+OFFSET]", "uretprobe": "uretprobe:FILE:FUNCTION",
	"watchpoint": "watchpoint:SYMBOL|ADDRESS[:LENGTH:MODE]", "line": "line:FILE.go:NUMBER", "inline": "inline:FUNCTION", "fentry": "fentry:FUNCTION", "fexit": "fexit:FUNCTION",
	"tracepoint": "tracepoint:CATEGORY:NAME", "interval": "interval:UNIT:COUNT, the unit hz, s, ms or us", "profile": "profile:UNIT:COUNT, the unit hz, s, ms or us",
	"software": "software:EVENT:COUNT", "begin": "begin", "end": "end", "self": "self:signal:NAME"}
