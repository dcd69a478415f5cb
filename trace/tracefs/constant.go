package tracefs

import (
	"strconv"
	"strings"
)

// constant is the value of numbers with + - * / between them, of which there may be four: the operators of one rank
// are applied from the left.
func constant(expr string, at int) (int64, error) {
	p := &sum{text: expr, at: at}
	n, err := p.chain("+-", func() (int64, error) { return p.chain("*/", p.number) })
	if err == nil && p.pos < len(expr) {
		err = wrong(at+p.pos, "Invalid expression")
	}
	return n, err
}

// A sum is an expression that is being read.
type sum struct {
	text    string
	at      int // of the text in the command
	pos     int
	numbers int
}

// mostNumbers is how many there can be.
const mostNumbers = 4

func (p *sum) chain(operators string, next func() (int64, error)) (int64, error) {
	n, err := next()
	for err == nil && p.pos < len(p.text) && strings.IndexByte(operators, p.text[p.pos]) >= 0 {
		op := p.text[p.pos]
		p.pos++
		start := p.pos
		var b int64
		if b, err = next(); err != nil {
			return 0, err
		}
		switch op {
		case '+':
			n += b
		case '-':
			n -= b
		case '*':
			n *= b
		case '/':
			if b == 0 {
				return 0, wrong(p.at+start, "Division by zero")
			}
			n /= b
		}
	}
	return n, err
}

func (p *sum) number() (int64, error) {
	start := p.pos
	for p.pos < len(p.text) && inName(rune(p.text[p.pos])) == rune(p.text[p.pos]) {
		p.pos++
	}
	n, err := strconv.ParseInt(p.text[start:p.pos], 0, 64)
	if err != nil {
		return 0, wrong(p.at+start, "Couldn't find field")
	}
	if p.numbers++; p.numbers > mostNumbers {
		return 0, wrong(p.at, "Too many subexpressions (3 max)")
	}
	return n, nil
}
