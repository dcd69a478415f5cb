package lang

import (
	"strings"

	"sonde/kallsyms"
	"sonde/probe/attach/quote"
)

// point reads an attach point: everything up to a blank, a comma, or the brace that begins the block, but in quotes;
// a comma may be in brackets.
func (p *parser) point(s *Script) *Point {
	p.space()
	from := p.at
	n, open := quote.Index(p.Text[from:], " \t\r\n{,")
	if n < 0 {
		n = len(p.Text) - from
	}
	p.at += n
	span := Span{from, p.at}
	if open {
		p.fail(span, "this string has no end")
	}
	if n == 0 {
		p.advance()
		p.unexpected("a probe, such as kprobe:vfs.Read")
	}
	return p.pointOf(span, quote.Bare(p.Text[from:p.at], s.withParams))
}

// Patterns cuts a list of attach points or patterns at its commas.
func Patterns(list string) []string { return quote.Split(list, ",", 0) }

// PointText is an attach point as Parse reads it: its options are put in quotes where that needs them.
func PointText(provider string, options ...string) string {
	text := []string{provider}
	for i, o := range options {
		text = append(text, protect(o, i == len(options)-1))
	}
	return strings.Join(text, ":")
}

// protect puts an option in quotes if it has what would end it. The last one ends at no colon.
func protect(option string, last bool) string {
	special := " \t\r\n{},$\""
	if !last {
		special += ":@"
	}
	if strings.ContainsAny(option, special) || strings.Count(option, "[") != strings.Count(option, "]") {
		return quote.Add(option)
	}
	return option
}

// Providers are by name: how many options each may have.
var providers = map[string][2]int{"kprobe": {1, 1}, "kretprobe": {1, 1}, "uprobe": {2, 2}, "uretprobe": {2, 2}, "watchpoint": {1, 4}, "asyncwatchpoint": {1, 4},
	"line": {2, 2}, "inline": {1, 1}, "fentry": {1, 1}, "fexit": {1, 1}, "tracepoint": {2, 2}, "rawtracepoint": {1, 2}, "interval": {1, 2}, "profile": {1, 2},
	"software": {1, 2}, "hardware": {1, 2}, "usdt": {2, 3}, "iter": {1, 2}, "bench": {1, 1}, "test": {1, 1}, "begin": {0, 0}, "end": {0, 0}, "self": {2, 2}}

// short are other names of providers.
var short = map[string]string{"k": "kprobe", "kr": "kretprobe", "u": "uprobe", "ur": "uretprobe", "w": "watchpoint", "aw": "asyncwatchpoint", "f": "fentry", "fr": "fexit",
	"kfunc": "fentry", "kretfunc": "fexit", "t": "tracepoint", "rt": "rawtracepoint", "i": "interval", "p": "profile", "s": "software", "h": "hardware", "U": "usdt", "it": "iter",
	"BEGIN": "begin", "END": "end"}

// Provider is the whole name of a provider, which may be a short one.
func Provider(name string) string {
	if full, ok := short[name]; ok {
		return full
	}
	return name
}

func (p *parser) pointOf(span Span, s string) *Point {
	if name, after, named := strings.Cut(s, "="); named && isName(name) { // name=kprobe:f
		s = after
	}
	provider, rest, more := quote.Cut(s, ":")
	provider = Provider(quote.Remove(provider))
	count, ok := providers[provider]
	switch {
	case !ok && !isName(provider):
		p.fail(Span{span.From, min(span.To, span.From+1)}, "found %q, expected a probe", printable(provider))
	case !ok:
		p.failHint(Span{span.From, min(span.To, span.From+max(1, strings.IndexByte(s+":", ':')))}, didYouMean(provider, keys(providers)), "there are no probes of the type %q", printable(provider))
	}
	point := &Point{Span: span, Provider: provider, Text: provider}
	if more {
		point.cut(rest)
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

func isName(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != ""
}

// cut cuts what follows the provider's name into the options, and frees these of their quotes. The names of functions
// may have colons; of a program, the file comes first.
func (p *Point) cut(rest string) {
	parts := quote.Split(rest, ":", 0)
	switch p.Provider {
	case "kprobe", "kretprobe", "inline", "fentry", "fexit":
		if module, name, has := quote.Cut(rest, ":"); has && kallsyms.Fits(quote.Remove(module), "vmlinux") {
			p.Options = []string{quote.Remove(name)}
			p.Text = PointText(p.Provider, quote.Remove(module), p.Options[0])
			return
		}
		parts = []string{rest}
	case "uprobe", "uretprobe":
		parts = quote.Split(rest, ":", 2)
		parts[len(parts)-1] = strings.TrimPrefix(parts[len(parts)-1], "cpp:") // names of C++ are known without it
		if file, source, has := quote.Cut(parts[0], "@"); has {
			parts[0], p.Source = file, quote.Remove(source)
		}
	case "line":
		if at := strings.LastIndexByte(rest, ':'); at >= 0 {
			parts = []string{rest[:at], rest[at+1:]}
		}
	}
	for _, part := range parts {
		p.Options = append(p.Options, quote.Remove(part))
	}
	p.Text = PointText(p.Provider, p.Options...)
	if file := protect(p.Options[0], false); p.Source != "" {
		p.Text = p.Provider + ":" + file + "@" + protect(p.Source, false) + strings.TrimPrefix(p.Text, p.Provider+":"+file)
	}
}

// usage says how an attach point is written.
var usage = map[string]string{"kprobe": "kprobe:FUNCTION[+OFFSET]", "kretprobe": "kretprobe:FUNCTION", "uprobe": "uprobe:FILE:FUNCTION[+OFFSET]", "uretprobe": "uretprobe:FILE:FUNCTION",
	"watchpoint": "watchpoint:[FILE:]SYMBOL|ADDRESS[:LENGTH:MODE]", "line": "line:FILE.go:NUMBER", "inline": "inline:FUNCTION", "fentry": "fentry:FUNCTION", "fexit": "fexit:FUNCTION",
	"tracepoint": "tracepoint:CATEGORY:NAME", "rawtracepoint": "rawtracepoint:NAME", "interval": "interval:UNIT:COUNT, the unit hz, s, ms or us", "profile": "profile:UNIT:COUNT, the unit hz, s, ms or us",
	"software": "software:EVENT:COUNT", "begin": "begin", "end": "end", "self": "self:signal:NAME"}
