package shell

import (
	"cmp"
	"fmt"
	"regexp"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// branch runs if, elif and else.
func (s *Shell) branch(c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		if len(c.Cond) > 0 { // else has none
			s.test(func() { s.stmts(c.Cond) })
			if s.stop() {
				return
			}
			if s.status != statusOK {
				continue
			}
		}
		s.stmts(c.Then)
		return
	}
	s.status = statusOK
}

// while runs while and until.
func (s *Shell) while(c *syntax.WhileClause) {
	status := statusOK
	for !s.stop() {
		s.test(func() { s.stmts(c.Cond) })
		if s.stop() {
			s.over()
			return
		}
		if (s.status == statusOK) == c.Until {
			break
		}
		more := s.round(c.Do)
		status = s.status
		if !more {
			break
		}
	}
	if s.flow == onward {
		s.status = status
	}
}

// round runs the body of a loop once, and reports whether the loop continues.
func (s *Shell) round(body []*syntax.Stmt) bool {
	s.loops++
	s.stmts(body)
	s.loops--
	return s.over()
}

// over heeds break and continue, and reports whether the loop continues.
func (s *Shell) over() bool {
	if s.flow != breaking && s.flow != continuing {
		return s.flow == onward
	}
	if s.levels > 1 {
		s.levels--
		return false
	}
	again := s.flow == continuing
	s.flow = onward
	return again
}

// forEach runs a for loop, over words or as in C.
func (s *Shell) forEach(c *syntax.ForClause) {
	switch loop := c.Loop.(type) {
	case *syntax.CStyleLoop:
		s.forC(loop, c.Do)
	case *syntax.WordIter:
		words := s.params
		if loop.InPos.IsValid() {
			var err error
			if words, err = s.fields(loop.Items); err != nil {
				s.fail(nil, err)
				return
			}
		}
		if c.Select {
			s.fail(nil, fmt.Errorf("select is not supported"))
			return
		}
		s.status = statusOK
		for _, word := range words {
			if err := s.set(loop.Name.Value, word); err != nil {
				s.fail(nil, err)
				return
			}
			if !s.round(c.Do) || s.stop() {
				return
			}
		}
	}
}

func (s *Shell) forC(loop *syntax.CStyleLoop, body []*syntax.Stmt) {
	_, err := s.arithm(loop.Init)
	for s.status = statusOK; err == nil && !s.stop(); {
		n := 1
		if loop.Cond != nil {
			n, err = s.arithm(loop.Cond)
		}
		if err != nil || n == 0 || !s.round(body) {
			break
		}
		_, err = s.arithm(loop.Post)
	}
	if err != nil {
		s.fail(nil, err)
	}
}

// choose runs case.
func (s *Shell) choose(c *syntax.CaseClause) {
	word, err := s.literal(c.Word)
	if err != nil {
		s.fail(nil, err)
		return
	}
	s.status = statusOK
	through := false
	for _, item := range c.Items {
		if !through && !s.matchesAny(item.Patterns, word) {
			continue
		}
		s.stmts(item.Stmts)
		switch through = item.Op == syntax.Fallthrough; {
		case through || item.Op == syntax.Resume:
		default:
			return
		}
	}
}

func (s *Shell) matchesAny(patterns []*syntax.Word, text string) bool {
	for _, p := range patterns {
		if yes, err := s.matches(p, text); err != nil {
			s.fail(nil, err)
		} else if yes {
			return true
		}
	}
	return false
}

// matches reports whether text is what a pattern describes.
func (s *Shell) matches(word *syntax.Word, text string) (bool, error) {
	p, err := expanded(s, []*syntax.Word{word}, func(cfg *expand.Config) (string, error) { return expand.Pattern(cfg, word) })
	if err != nil {
		return false, err
	}
	if len(p) > maxPattern {
		return false, fmt.Errorf("a pattern has %d bytes, more than %d", len(p), maxPattern)
	}
	expr, err := pattern.Regexp(p, pattern.EntireString)
	if err != nil {
		return p == text, nil
	}
	re, err := regexp.Compile(expr)
	return err == nil && re.MatchString(text), err
}

// arithm calculates; nil is 0.
func (s *Shell) arithm(x syntax.ArithmExpr) (int, error) {
	if x == nil {
		return 0, nil
	}
	return expanded(s, nil, func(cfg *expand.Config) (int, error) { return expand.Arithm(cfg, x) })
}

// truth runs what calculates: (( )), let and [[ ]].
func (s *Shell) truth(cmd syntax.Command) {
	yes, err := false, error(nil)
	switch c := cmd.(type) {
	case *syntax.ArithmCmd:
		n, e := s.arithm(c.X)
		yes, err = n != 0, e
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			n, e := s.arithm(x)
			yes, err = n != 0, cmp.Or(err, e)
		}
	case *syntax.TestClause:
		yes, err = s.holds(c.X)
	default:
		err = fmt.Errorf("coproc is not supported") // all that is left
	}
	switch {
	case err != nil:
		s.fail(nil, err)
	case yes:
		s.status = statusOK
	default:
		s.status = statusError
	}
}
