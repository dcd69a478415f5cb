package lang

import (
	"strconv"
	"strings"
)

// directive reads a line for the C preprocessor. Files to include are not read: a script that needs one says
// what it lacks, mostly a struct. A #define stands for one number, string or name.
func (p *parser) directive() {
	from, end := p.at, p.endOfLine()
	fields := strings.Fields(p.Text[from+1 : end])
	p.at = end
	if len(fields) == 0 {
		return
	}
	switch fields[0] {
	case "include", "endif":
	case "ifndef", "else": // what bpftrace defines is defined here
		p.skipTo("#endif", "#else")
	case "ifdef":
		if len(fields) < 2 || fields[1] != "BPFTRACE_HAVE_BTF" {
			p.skipTo("#endif", "#else")
		}
	case "define":
		p.define(Span{from, end}, fields[1:])
	default:
		p.fail(Span{from, end}, "the directive #%s is not supported", printable(fields[0]))
	}
}

func (p *parser) define(line Span, fields []string) {
	if len(fields) == 1 {
		return
	}
	if len(fields) == 0 || strings.ContainsAny(fields[0], "()") {
		p.fail(line, "#define needs a name and a value: macros with arguments are not supported")
	}
	value := parser{scanner: scanner{Source: &Source{p.Name, strings.Join(fields[1:], " ")}, defines: p.defines}}
	t := value.next()
	negative := t.is("-")
	if negative {
		t = value.next()
		t.value = -t.value
	}
	if rest := value.next(); rest.kind != endOfText || t.kind != number && (negative || t.kind != text && t.kind != word) {
		p.fail(line, "#define stands for one number, string or name here")
	}
	p.defines[fields[0]] = t
}

// skipTo skips lines after the first that begins so.
func (p *parser) skipTo(ends ...string) {
	for p.at < len(p.Text) {
		p.at++ // the end of the line before
		line := strings.TrimSpace(p.Text[min(p.at, len(p.Text)):p.endOfLine()])
		p.at = p.endOfLine()
		for _, end := range ends {
			if strings.HasPrefix(line, end) {
				return
			}
		}
	}
}

// params sorts the arguments of the script.
func (p *parser) params(s *Script, params []string) {
	for _, a := range params {
		name, named := strings.CutPrefix(a, "--")
		if !named || name == "" {
			s.Params = append(s.Params, a)
			continue
		}
		name, value, given := strings.Cut(name, "=")
		if !given {
			value = "true"
		}
		s.Named[name] = value
	}
}

// param is an argument of the script.
func (s *Script) param(i int) (string, bool) {
	if i < 1 || i > len(s.Params) {
		return "", false
	}
	return s.Params[i-1], true
}

// withParams replaces $1 and so on in an attach point.
func (s *Script) withParams(point string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(point, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		if i, err := strconv.Atoi(after[:digits]); err == nil {
			value, _ := s.param(i)
			b.WriteString(value)
		} else {
			b.WriteByte('$')
		}
		point = after[digits:]
	}
}
