package lang

import (
	"fmt"
	"slices"
	"strings"

	"sonde/arch/amd64/goabi"
)

// argumentText makes str($1) and str($1 + 1) the text of the script's argument, also of one that is a number.
func (c *checker) argumentText(a *Expr) {
	skip := int64(0)
	p := a
	if a.Kind == Binary && a.Op == "+" && a.Args[0].Kind == Parameter {
		n, ok := c.constant(a.Args[1])
		if p, skip = a.Args[0], n; !ok {
			return
		}
	}
	if p.Kind != Parameter || p.Value == 0 {
		return
	}
	text, _ := c.Script.param(int(p.Value))
	if skip < 0 || skip > int64(len(text)) {
		c.fail(a.Span, "the argument has %d bytes", len(text))
	}
	*a = Expr{Span: a.Span, Kind: Text, Name: text[skip:]}
}

// assert ends the script with a code if a condition does not hold.
func (c *checker) assert(e *Expr) Type {
	c.condition(e.Args[0])
	c.literal(e, 1)
	return voidType
}

// failNow is a mistake wherever it stands.
func (c *checker) failNow(e *Expr) Type {
	c.fail(e.Span, "%s", printable(c.literal(e, 0)))
	return voidType
}

// getopt is an argument of the script with a name, and what it is if it was not given.
func (c *checker) getopt(e *Expr) Type {
	name, what := c.literal(e, 0), ""
	if len(e.Args) == 3 {
		what = c.literal(e, 2)
	}
	c.options[name] = what
	given, ok := c.Named[name]
	if len(e.Args) == 1 {
		*e = Expr{Span: e.Span, Kind: Number, Op: "bool"}
	} else if c.expr(e.Args[1]); e.Args[1].Kind == BlockOf {
		c.fail(e.Args[1].Span, "getopt() needs a default that is written out")
	} else {
		*e = *e.Args[1]
	}
	if ok {
		c.option(e, name, given)
	}
	return c.typeOfExpr(e)
}

// option puts what was given in place of the default.
func (c *checker) option(e *Expr, name, given string) {
	wrong := func(what string) {
		panic(thrown{&Error{Source: c.Source, Why: fmt.Sprintf("program command line option --%s invalid %s (value: %s)", name, what, printable(given)), Plain: true}})
	}
	n, isNumber := parameterNumber(given)
	switch {
	case e.Kind == Text:
		e.Name = given
	case e.Op == "bool":
		value, known := map[string]uint64{"true": 1, "1": 1, "false": 0, "0": 0}[strings.ToLower(given)]
		if e.Value = value; !known {
			wrong("boolean")
		}
	case !isNumber:
		wrong("integer")
	case given[0] == '-':
		one := &Expr{Span: e.Span, Kind: Number, Value: -n}
		*e = Expr{Span: e.Span, Kind: Unary, Op: "-", Args: []*Expr{one}}
	default:
		*e = Expr{Span: e.Span, Kind: Number, Value: n}
	}
}

func (c *checker) kaddr(e *Expr) Type {
	name := c.literal(e, 0)
	if of, ok := c.opt.Resolver.(Addresser); ok {
		if addr, ok := of.Address(name); ok {
			e.Value = addr
			return uint64Type
		}
	}
	c.fail(e.Span, "Failed to resolve kernel symbol: %s", printable(name))
	return uint64Type
}

func (c *checker) reg(e *Expr) Type {
	name := c.literal(e, 0)
	i := slices.Index(goabi.PtRegs[:], name)
	if name == "pc" {
		i = goabi.PtRegsIP / goabi.WordSize
	}
	if i < 0 {
		c.Source.failHint(e.Span, fmt.Sprintf("there are %s, pc", strings.Join(goabi.PtRegs[:], ", ")), "there is no register %q", printable(name))
	}
	c.needsRegisters(e)
	e.Value = uint64(goabi.WordSize * i)
	return uint64Type
}
