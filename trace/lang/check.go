package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checker finds the types of maps, variables and expressions. It goes over the script until no type
// changes any more, since a map may be read before the statement that says what is in it. What is not
// known yet is no mistake but in the last pass.
type checker struct {
	*Script
	opt      *Options
	settings Settings
	options  map[string]string // that the script asks for by getopt(), with what they are for
	maps     map[string]*Map
	scopes   map[*Point]*scope
	changed  bool
	final    bool
	warnings []*Error

	// Of the point that is being checked:
	point  *Point
	target *Target
	*scope
	loops int
}

// scope is what is known of an attach point.
type scope struct {
	target *Target
	vars   map[string]*local
	order  []*local
}

// local is a variable of a probe.
type local struct {
	Type
	at     int  // on the stack or in scratch memory: see generator
	memory bool // it is in scratch memory
	fixed  bool
}

const maxPasses = 16

// types checks the whole script.
func (c *checker) types() {
	c.configure()
	for _, d := range c.Script.Maps {
		c.declare(d)
	}
	c.expand()
	c.missing()
	for pass := 0; ; pass++ {
		c.changed = false
		for _, probe := range c.Probes {
			for _, point := range probe.Points {
				c.probe(probe, point)
			}
		}
		if c.final {
			c.unknownOptions()
			return
		}
		c.final = !c.changed || pass == maxPasses
	}
}

// expand puts points for each function in the place of patterns, as far as the resolver knows them.
func (c *checker) expand() {
	e, ok := c.opt.Resolver.(Expander)
	if !ok {
		return
	}
	for _, probe := range c.Probes {
		var all []*Point
		for _, p := range probe.Points {
			if points := e.Expand(p); points != nil {
				all = append(all, points...)
			} else {
				all = append(all, p)
			}
		}
		probe.Points = all
	}
}

func (c *checker) declare(d MapDecl) {
	switch {
	case !slices.Contains(mapKinds, d.Kind):
		c.Source.fail(d.Span, "there are no maps of type %s: there are %s", d.Kind, strings.Join(mapKinds, ", "))
	case d.Entries == 0 || d.Entries > 1<<20:
		c.Source.fail(d.Span, "a map has 1 to %d keys", 1<<20)
	case c.maps[d.Name] != nil:
		c.Source.fail(d.Span, "%s is declared a second time", d.Name)
	}
	c.maps[d.Name] = &Map{Name: d.Name, entries: int(d.Entries), evicts: strings.Contains(d.Kind, "lru"), where: d.Span}
}

// probe checks a probe at one of its points.
func (c *checker) probe(probe *Probe, point *Point) {
	s := c.scopes[point]
	if s == nil {
		s = &scope{target: c.resolve(point), vars: map[string]*local{}}
		c.scopes[point] = s
	}
	c.point, c.scope, c.target = point, s, s.target
	if probe.Filter != nil {
		c.condition(probe.Filter)
	}
	c.statements(probe.Body)
}

func (c *checker) resolve(p *Point) *Target {
	if p.Provider == "begin" || p.Provider == "end" {
		return &Target{}
	}
	t, err := c.opt.Resolver.Target(p)
	if err != nil {
		var h *Hinted
		if errors.As(err, &h) && h.Missing {
			c.Source.failHint(p.Span, h.Hint, "%s: %s", p.noMatches(), h.Why)
		} else if h != nil {
			c.Source.failHint(p.Span, h.Hint, "%s", h.Why)
		}
		c.Source.fail(p.Span, "%v", err)
	}
	return t
}

// noMatches says that there is nothing of a point's name, as bpftrace does.
func (p *Point) noMatches() string {
	return "No matches for " + strings.Replace(p.Text, ":", " ", 1)
}

// missing leaves out points that are not there, and probes that have no others, unless that is a mistake.
func (c *checker) missing() {
	if c.settings.Missing == "error" {
		return
	}
	skip := func(at Span, format string, args ...any) bool {
		if c.settings.Missing == "warn" {
			c.warn(at, format, args...)
		}
		return true
	}
	first := c.Probes[0].Points[0].Span
	c.Probes = slices.DeleteFunc(c.Probes, func(probe *Probe) bool {
		at := probe.Points[0].Span
		probe.Points = slices.DeleteFunc(probe.Points, func(p *Point) bool {
			var h *Hinted
			if p.Provider == "begin" || p.Provider == "end" {
				return false
			}
			_, err := c.opt.Resolver.Target(p)
			return errors.As(err, &h) && h.Missing && skip(p.Span, "%s. Skipping.", p.noMatches())
		})
		return len(probe.Points) == 0 && skip(at, "Probe has no valid attach points. It is being removed which may cause issues with program behavior.")
	})
	if len(c.Probes) == 0 {
		c.fail(first, "No probes to attach")
	}
}

// warn notes what may be a mistake. It is said once.
func (c *checker) warn(at Span, format string, args ...any) {
	w := &Error{Source: c.Source, Span: at, Why: fmt.Sprintf(format, args...), Warning: true}
	if !slices.ContainsFunc(c.warnings, func(o *Error) bool { return o.Span == at && o.Why == w.Why }) {
		c.warnings = append(c.warnings, w)
	}
}

func (c *checker) fail(at Span, format string, args ...any) { c.Source.fail(at, format, args...) }

func (c *checker) statements(all []*Stmt) {
	for i, s := range all {
		c.statement(s)
		if c.final && i+1 < len(all) && s.ends() {
			c.warn(all[i+1].Span, "Unreachable statement: what stands before it ends the probe or the loop")
		}
	}
}

// ends tells whether nothing after a statement is executed.
func (s *Stmt) ends() bool {
	return s.Kind == Return || s.Kind == Break || s.Kind == Continue || s.Kind == Evaluate && s.Value.Kind == Call && s.Value.Name == "exit"
}

func (c *checker) statement(s *Stmt) {
	switch s.Kind {
	case Evaluate:
		c.evaluate(s.Value)
	case Assign:
		c.assign(s)
	case Declare:
		c.let(s)
	case If:
		c.condition(s.Value)
		c.statements(s.Body)
		c.statements(s.Else)
	case While:
		c.condition(s.Value)
		c.body(s.Body)
	case Unroll:
		c.number(s.Value)
		switch n, ok := c.constant(s.Value); {
		case ok && n < 1:
			c.fail(s.Value.Span, "unroll minimum value is 1")
		case ok && n > 100:
			c.fail(s.Value.Span, "unroll maximum value is 100")
		case !ok:
			c.fail(s.Value.Span, "unroll needs a number from 1 to 100 that is known before")
		}
		c.body(s.Body)
	case For:
		c.forLoop(s)
	case Block:
		c.statements(s.Body)
	case Break, Continue:
		if c.loops == 0 {
			c.fail(s.Span, "this is in no loop")
		}
	case Return:
		if s.Value != nil {
			c.number(s.Value)
		}
	}
}

// evaluate checks an expression that stands as a statement.
func (c *checker) evaluate(e *Expr) {
	if t := c.expr(e); t.Aggregates() && e.Kind == Call {
		c.fail(e.Span, "%s() must be assigned to a map: @ = %s(…)", e.Name, e.Name)
	}
}

func (c *checker) body(all []*Stmt) {
	c.loops++
	c.statements(all)
	c.loops--
}

// condition checks what is compared with 0.
func (c *checker) condition(e *Expr) {
	if t := c.expr(e); t.Kind != Unknown && !t.isInt() {
		c.fail(e.Span, "a condition is an integer, and this is of type %s", t)
	}
}

// number checks what must be an integer.
func (c *checker) number(e *Expr) Type {
	t := c.expr(e)
	if t.Kind != Unknown && !t.isInt() {
		c.fail(e.Span, "expected an integer, and this is of type %s", t)
	}
	return t
}

// constant returns the number of an expression that is known now.
func (c *checker) constant(e *Expr) (int64, bool) {
	switch {
	case e.Kind == Number:
		return int64(e.Value), true
	case e.Kind == Parameter && e.Value == 0:
		return int64(len(c.Params)), true
	case e.Kind == Parameter:
		if e.Name, _ = c.Script.param(int(e.Value)); e.Name == "" {
			e.Name = "0"
		}
		n, ok := parameterNumber(e.Name)
		return int64(n), ok
	case e.Kind == Unary && e.Op == "-":
		n, ok := c.constant(e.Args[0])
		return -n, ok
	case e.Kind == Binary:
		a, ok := c.constant(e.Args[0])
		b, known := c.constant(e.Args[1])
		if !ok || !known {
			return 0, false
		}
		switch e.Op {
		case "+":
			return a + b, true
		case "-":
			return a - b, true
		case "*":
			return a * b, true
		}
	}
	return 0, false
}
