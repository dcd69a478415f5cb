package lang

import (
	"fmt"
	"strings"
)

// scoping gives the variables of a probe names that differ where blocks have their own.
type scoping struct {
	open  []map[string]string
	count map[string]int
}

// scopes renames the variables of a probe: one that is first assigned in a block ends with it.
func (s *Script) scopes(p *Probe) {
	c := &scoping{count: map[string]int{}}
	c.block(func() {
		if p.Filter != nil {
			c.expr(p.Filter)
		}
		c.statements(p.Body)
	})
}

// plain is a variable's name as it was written.
func plain(name string) string {
	name, _, _ = strings.Cut(name, "#")
	return name
}

func (c *scoping) block(f func()) {
	c.open = append(c.open, map[string]string{})
	f()
	c.open = c.open[:len(c.open)-1]
}

func (c *scoping) find(name string) string {
	for i := len(c.open) - 1; i >= 0; i-- {
		if to := c.open[i][name]; to != "" {
			return to
		}
	}
	return ""
}

// declare makes a variable of the innermost block.
func (c *scoping) declare(e *Expr) {
	name := e.Name
	if c.count[name]++; c.count[name] > 1 {
		e.Name = fmt.Sprintf("%s#%d", name, c.count[name])
	}
	c.open[len(c.open)-1][name] = e.Name
}

// assign is declare for a variable that there is not yet.
func (c *scoping) assign(e *Expr) {
	if to := c.find(e.Name); to != "" {
		e.Name = to
	} else {
		c.declare(e)
	}
}

func (c *scoping) statements(all []*Stmt) {
	for _, s := range all {
		c.statement(s)
	}
}

func (c *scoping) statement(s *Stmt) {
	for _, e := range []*Expr{s.Value, s.Limit} {
		if e != nil {
			c.expr(e)
		}
	}
	switch {
	case s.Type != nil && s.Type.Of != nil:
		c.expr(s.Type.Of)
	}
	switch {
	case s.Kind == For:
		c.block(func() {
			c.declare(s.Target)
			c.statements(s.Body)
		})
		return
	case s.Kind == Declare:
		c.declare(s.Target)
	case s.Target != nil && s.Target.Kind == Variable:
		c.assign(s.Target)
	case s.Target != nil:
		c.expr(s.Target)
	}
	c.block(func() { c.statements(s.Body) })
	c.block(func() { c.statements(s.Else) })
}

func (c *scoping) expr(e *Expr) {
	if e.Kind == Variable {
		if to := c.find(e.Name); to != "" {
			e.Name = to
		} else {
			e.Name += "#0" // there is none here: another block may have one
		}
	}
	if e.To != nil && e.To.Of != nil {
		c.expr(e.To.Of)
	}
	if e.Kind != BlockOf {
		for _, a := range e.Args {
			c.expr(a)
		}
		return
	}
	c.block(func() {
		c.statements(e.Body)
		for _, a := range e.Args {
			c.expr(a)
		}
	})
}
