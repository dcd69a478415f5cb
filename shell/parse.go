package shell

import (
	"fmt"
	"syscall"
)

// pipeline is one or more commands joined by "|".
type pipeline struct {
	after    string // the operator before it: ";", "&&" or "||"
	commands []invocation
}

// invocation is one command with its arguments and redirections.
type invocation struct {
	words     []string
	redirects []redirect
}

type redirect struct {
	op, path string // ">", ">>" or "<"
}

// parse reads a script as a list of pipelines.
//
// Errors: EINVAL (wrapped with the line and what is wrong).
func parse(script string) ([]pipeline, error) {
	tokens, err := lex(script)
	if err != nil {
		return nil, err
	}
	p := &parser{list: []pipeline{}, after: ";"}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case !t.op:
			p.command.words = append(p.command.words, t.text)
		case t.text == "<" || t.text == ">" || t.text == ">>":
			if i++; i == len(tokens) || tokens[i].op {
				return nil, syntaxError(t, "a file name must follow")
			}
			p.command.redirects = append(p.command.redirects, redirect{t.text, tokens[i].text})
		default:
			if err := p.operator(t); err != nil {
				return nil, err
			}
		}
	}
	end := token{text: ";", op: true}
	if len(tokens) > 0 {
		end.line = tokens[len(tokens)-1].line
	}
	return p.list, p.operator(end)
}

// parser holds what has been read of a script so far.
type parser struct {
	list    []pipeline
	after   string // the operator before the pipeline being read
	open    []invocation
	command invocation
}

// operator ends a command, and all but "|" end the pipeline.
func (p *parser) operator(t token) error {
	empty := len(p.command.words) == 0
	switch {
	case empty && len(p.command.redirects) > 0:
		return syntaxError(t, "there is no command before it")
	case empty && len(p.open) == 0 && p.after == ";" && (t.text == ";" || t.text == "\n"):
		return nil // an empty line
	case empty && t.text == "\n" && (len(p.open) > 0 || p.after != ";"):
		return nil // goes on in the next line
	case empty:
		return syntaxError(t, "there is no command before it")
	}
	p.open = append(p.open, p.command)
	p.command = invocation{}
	if t.text == "|" {
		return nil
	}
	p.list = append(p.list, pipeline{p.after, p.open})
	p.open = nil
	p.after = t.text
	if t.text == "\n" {
		p.after = ";"
	}
	return nil
}

func syntaxError(t token, why string) error {
	text := t.text
	if text == "\n" {
		text = "end of line"
	}
	return fmt.Errorf("line %d: %q: %s: %w", t.line, text, why, syscall.EINVAL)
}
