package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// declare runs export, readonly, local and declare.
func (s *Shell) declare(c *syntax.DeclClause) {
	what := c.Variant.Value
	s.status = statusOK
	for _, a := range c.Args {
		for _, a := range s.declared(a) {
			if err := s.declareOne(what, a); err != nil {
				s.status = report(s.context(s.In), &Command{Name: what}, err)
			}
		}
	}
}

// declared are the assignments that a word becomes.
func (s *Shell) declared(a *syntax.Assign) (list []*syntax.Assign) {
	if a.Name != nil {
		return []*syntax.Assign{a}
	}
	fields, err := s.fields([]*syntax.Word{a.Value})
	if err != nil {
		s.fail(nil, err)
	}
	for _, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		one := &syntax.Assign{Name: &syntax.Lit{Value: name}, Naked: !ok}
		if ok {
			one.Value = &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: value}}}
		}
		list = append(list, one)
	}
	return list
}

func (s *Shell) declareOne(what string, a *syntax.Assign) error {
	name := a.Name.Value
	switch {
	case what == "nameref":
		return fmt.Errorf("it is not supported")
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("the option %s is not supported", name)
	case !syntax.ValidName(name):
		return fmt.Errorf("%q is not the name of a variable", name)
	case what != "export" && what != "readonly" && len(s.locals) > 0:
		top := s.locals[len(s.locals)-1]
		if _, again := top[name]; !again {
			top[name] = s.vars[name]
			s.restore(map[string]expand.Variable{name: {}})
		}
	case what == "local":
		return fmt.Errorf("it is for functions")
	}
	if !a.Naked {
		if err := s.assign(a); err != nil {
			return err
		}
	}
	v, ok := s.vars[name]
	if !ok && len(s.vars) >= maxNames {
		return fmt.Errorf("%s: there are %d variables already", name, maxNames)
	}
	v.Exported = v.Exported || what == "export"
	v.ReadOnly = v.ReadOnly || what == "readonly"
	if ok || !a.Naked {
		s.vars[name] = v
	}
	return nil
}
