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

// Parse reads a script. Name is what errors call it; params are its arguments: $1 and so on, and those that
// begin with "--", which have names.
//
// Errors: *Error.
func Parse(name, script string, params ...string) (s *Script, err error) {
	defer catch(&err)
	p := parser{scanner: scanner{Source: &Source{name, script}, defines: map[string]token{}}}
	s = &Script{Source: p.Source, Named: map[string]string{}}
	p.params(s, params)
	if len(script) > MaxBytes {
		p.fail(Span{}, "the script has %d bytes, more than %d", len(script), MaxBytes)
	}
	for p.space(); p.at < len(script); p.space() {
		p.top(s)
	}
	s.expand()
	if len(s.Probes) == 0 {
		p.fail(Span{len(script), len(script)}, "the script has no probe")
	}
	return s, nil
}

// top reads a declaration or a probe. The scanner is at its first letter; no token has been read.
func (p *parser) top(s *Script) {
	from := p.at
	if p.Text[from] == '#' {
		p.directive()
		return
	}
	p.advance()
	switch name := p.tok; {
	case name.is("config") && p.follows("="):
		p.config(s)
	case (name.is("struct") || name.is("union") || name.is("enum")) && !p.follows(":"):
		p.structure(s)
	case name.is("let"):
		p.mapDecl(s)
	case name.is("macro") && !p.follows(":"):
		p.macro(s)
	case (name.is("import") || name.is("fn")) && !p.follows(":"):
		p.Source.failHint(name.Span, "bt has the functions of bpftrace's standard library, and reads no other file: put what is wanted into this one", "%s is not supported", name.text)
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
		probe.Points = append(probe.Points, p.point(s))
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
