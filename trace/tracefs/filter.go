package tracefs

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// A test is a condition on a record.
type test struct {
	op   string // && || ! or of a field: == != < <= > >= & ~
	a, b *test  // of && || !: what they are of

	field  *field
	number int64
	text   string
	cpu    bool // of the CPU, and not of a field
}

// commField is the name of what runs, which is in front of the record.
var commField = &field{text: true, at: -recordAt, room: 16}

// field finds a field by the name that a filter has for it; nil: there is none.
func (e *event) field(name string) *field {
	for i := range e.fields {
		if e.fields[i].Name == name {
			return &e.fields[i]
		}
	}
	for i := range common {
		if common[i].Name == name {
			return &common[i]
		}
	}
	if name == "comm" || name == "COMM" || name == "common_comm" {
		return commField
	}
	return nil
}

// A filterParser reads a filter.
type filterParser struct {
	event *event
	text  string
	at    int
	terms int
}

// mostTerms is how many fields a filter can test, and how deep it can be.
const mostTerms = 256

// parseFilter reads what is written to the file filter; 0 or none is no filter.
func (e *event) parseFilter(text string) (*test, error) {
	if t := strings.TrimSpace(text); t == "0" || t == "none" || t == "" {
		return nil, nil
	}
	p := &filterParser{event: e, text: text}
	t, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if p.blank(); p.at < len(text) {
		if text[p.at] == ')' {
			return nil, wrong(p.at, "Too many ')'")
		}
		return nil, wrong(p.at, "Invalid operator")
	}
	return t, nil
}

func (p *filterParser) blank() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n') {
		p.at++
	}
}

func (p *filterParser) take(what string) bool {
	if p.blank(); strings.HasPrefix(p.text[p.at:], what) {
		p.at += len(what)
		return true
	}
	return false
}

func (p *filterParser) or(deep int) (*test, error) { return p.chain("||", deep, p.and) }

func (p *filterParser) and(deep int) (*test, error) { return p.chain("&&", deep, p.not) }

func (p *filterParser) chain(op string, deep int, next func(int) (*test, error)) (*test, error) {
	a, err := next(deep)
	for err == nil && p.take(op) {
		var b *test
		b, err = next(deep)
		a = &test{op: op, a: a, b: b}
	}
	return a, err
}

func (p *filterParser) not(deep int) (*test, error) {
	if deep > mostTerms {
		return nil, wrong(p.at, "Too many terms in predicate expression")
	}
	switch {
	case p.take("!"):
		t, err := p.not(deep + 1)
		return &test{op: "!", a: t}, err
	case p.take("("):
		t, err := p.or(deep + 1)
		if err == nil && !p.take(")") {
			err = wrong(p.at, "Too few ')'")
		}
		return t, err
	}
	return p.term()
}

// comparisons are longest first.
var comparisons = [...]string{"==", "!=", "<=", ">=", "<", ">", "&", "~"}

func (p *filterParser) term() (*test, error) {
	if p.terms++; p.terms > mostTerms {
		return nil, wrong(p.at, "Too many terms in predicate expression")
	}
	start := p.at
	for p.at < len(p.text) && (inName(rune(p.text[p.at])) == rune(p.text[p.at]) || p.text[p.at] == '.') {
		p.at++
	}
	name := p.text[start:p.at]
	if p.blank(); name == "" {
		return nil, wrong(p.at, "No filter found")
	}
	t := &test{cpu: name == "CPU" || name == "cpu"}
	if t.field = p.event.field(name); t.field != nil {
		t.cpu = false
	} else if !t.cpu {
		return nil, wrong(p.at, "Field not found")
	}
	for _, op := range comparisons {
		if strings.HasPrefix(p.text[p.at:], op) && !strings.HasPrefix(p.text[p.at:], "&&") {
			t.op = op
			break
		}
	}
	if t.op == "" {
		return nil, wrong(p.at, "Invalid operator")
	}
	opAt := p.at
	p.at += len(t.op)
	p.blank()
	if t.field != nil && t.field.text {
		return t, p.textOf(t, opAt)
	}
	return t, p.numberOf(t, opAt)
}

func (p *filterParser) textOf(t *test, opAt int) error {
	if t.op != "==" && t.op != "!=" && t.op != "~" {
		return wrong(opAt, "Illegal operation for field type")
	}
	start := p.at
	if start < len(p.text) && (p.text[start] == '"' || p.text[start] == '\'') {
		end := strings.IndexByte(p.text[start+1:], p.text[start])
		if end < 0 {
			return wrong(len(p.text), "Missing matching quote")
		}
		t.text = p.text[start+1 : start+1+end]
		p.at += end + 2
	} else {
		for p.at < len(p.text) && !strings.ContainsRune(" \t&|)", rune(p.text[p.at])) {
			p.at++
		}
		t.text = p.text[start:p.at]
	}
	switch {
	case t.text == "" && p.at == start:
		return wrong(start, "Invalid value (did you forget quotes)?")
	case len(t.text) > longestText-1:
		return wrong(start, "Operand too long")
	}
	return nil
}

func (p *filterParser) numberOf(t *test, opAt int) error {
	if t.op == "~" {
		return wrong(opAt, "Illegal operation for field type")
	}
	if t.field != nil && t.field.Count > 0 {
		return wrong(opAt, "Illegal operation for field type")
	}
	start := p.at
	if p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\'') {
		return wrong(p.at, "Expecting numeric field")
	}
	for p.at < len(p.text) && (inName(rune(p.text[p.at])) == rune(p.text[p.at]) || p.text[p.at] == '-' && p.at == start) {
		p.at++
	}
	word := p.text[start:p.at]
	n, err := strconv.ParseInt(word, 0, 64)
	if err != nil {
		u, uerr := strconv.ParseUint(word, 0, 64)
		if n, err = int64(u), uerr; err != nil {
			if word == "" || word[0] != '-' && (word[0] < '0' || word[0] > '9') {
				return wrong(start, "Invalid value (did you forget quotes)?")
			}
			return wrong(start, "Illegal integer value")
		}
	}
	t.number = n
	return nil
}

// test jumps to no if a condition is not met.
func (c *code) test(t *test, no string) {
	switch t.op {
	case "&&":
		c.test(t.a, no)
		c.test(t.b, no)
	case "||":
		second, yes := c.label(), c.label()
		c.test(t.a, second)
		c.line("goto %s\n%s:", yes, second)
		c.test(t.b, no)
		c.line("%s:", yes)
	case "!":
		met := c.label()
		c.test(t.a, met)
		c.line("goto %s\n%s:", no, met)
	default:
		switch {
		case t.field == nil || !t.field.text:
			c.compare(t, no)
		case t.op == "~":
			c.glob(t, no)
		default:
			c.equal(t, no)
		}
	}
}

// compare jumps to no if a number is not what is wanted.
func (c *code) compare(t *test, no string) {
	signed := ""
	if t.field == nil {
		c.line("call 8\nr1 = r0")
	} else {
		c.line("r1 = *(%s *)(r7 + %d)", t.field.load(), recordAt+t.field.Offset)
		if t.field.Signed {
			signed = "s"
		}
	}
	c.line("r2 = %#x ll", uint64(t.number))
	switch t.op {
	case "&":
		c.line("r1 &= r2\nif r1 == 0 goto %s", no)
	case "==":
		c.line("if r1 != r2 goto %s", no)
	case "!=":
		c.line("if r1 == r2 goto %s", no)
	default:
		opposite := map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[t.op]
		c.line("if r1 %s%s r2 goto %s", signed, opposite, no)
	}
}

// equal jumps to no if a text is another one, or not, for !=.
func (c *code) equal(t *test, no string) {
	differs := no
	if t.op == "!=" {
		differs = c.label()
	}
	at := recordAt + t.field.at
	for i := range min(len(t.text)+1, t.field.room) {
		want := byte(0)
		if i < len(t.text) {
			want = t.text[i]
		}
		c.line("r1 = *(u8 *)(r7 + %d)\nif r1 != %d goto %s", at+i, want, differs)
	}
	if t.op == "!=" {
		c.line("goto %s\n%s:", no, differs)
	}
}

// glob jumps to no if a text does not fit a pattern.
//
// Bit i of r8 says that the text up to here fits the pattern's first i characters. A table has, for each
// character, which of the pattern's it fits; stays are the bits after which there is a star.
func (c *code) glob(t *test, no string) {
	table, stays, end := globTable(t.text)
	index := c.own(ownMap{table: table})
	again, over := c.label(), c.label()
	c.line("*(u32 *)(r10 - 4) = 0")
	c.lookup(index, 4, no)
	c.line("r9 = r0\nr8 = 1\nr3 = 0")
	c.line("%s: r1 = r7\nr1 += r3\nr1 = *(u8 *)(r1 + %d)\nif r1 == 0 goto %s", again, recordAt+t.field.at, over)
	c.line("r1 <<= 3\nr2 = r9\nr2 += r1\nr2 = *(u64 *)(r2 + 0)\nr2 &= r8\nr2 <<= 1\nr1 = %#x ll\nr8 &= r1\nr8 |= r2", stays)
	c.line("r3 += 1\nif r3 < %d goto %s", t.field.room, again)
	c.line("%s: r1 = %#x ll\nr8 &= r1\nif r8 == 0 goto %s", over, uint64(1)<<end, no)
}

// globTable is what glob looks characters up in.
func globTable(pattern string) (table []byte, stays uint64, end int) {
	var fits [256]uint64
	for i := 0; i < len(pattern) && end < 62; i++ {
		c, bit := pattern[i], uint64(1)<<end
		switch close := strings.IndexByte(pattern[i:], ']'); {
		case c == '*':
			stays |= bit
			continue
		case c == '?':
			for b := range fits {
				fits[b] |= bit
			}
		case c == '[' && close > 1:
			set := pattern[i+1 : i+close]
			negated := set[0] == '!' || set[0] == '^'
			set = strings.TrimLeft(set, "!^")
			for b := range fits {
				if inSet(byte(b), set) != negated {
					fits[b] |= bit
				}
			}
			i += close
		default:
			fits[c] |= bit
		}
		end++
	}
	for _, bits := range fits {
		table = binary.LittleEndian.AppendUint64(table, bits)
	}
	return table, stays, end
}

func inSet(c byte, set string) bool {
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			if set[i] <= c && c <= set[i+2] {
				return true
			}
			i += 2
		} else if set[i] == c {
			return true
		}
	}
	return false
}
