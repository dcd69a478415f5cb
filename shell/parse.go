package shell

import (
	"syscall"

	"sonde/kernel/refusal"
)

// chain is one or more pipelines joined by "&&" and "||".
type chain struct {
	pipelines  []pipeline
	background bool // "&" is behind it
	text       string
}

// pipeline is one or more commands joined by "|".
type pipeline struct {
	after    string // the operator before it: ";", "&&" or "||"
	commands []invocation
	text     string
}

// invocation is one command with its arguments and redirections.
type invocation struct {
	words     []string
	redirects []redirect
}

type redirect struct {
	op, path string // ">", ">>", "<", "2>", "2>>"; "2>&1" and ">&2" without a path
}

// parse reads a script.
//
// Errors: EINVAL (wrapped with the line and what is wrong).
func parse(script string) ([]chain, error) {
	script = clean(script)
	tokens, err := lex(script)
	if err != nil {
		return nil, err
	}
	p := &parser{script: script, list: []chain{}, after: ";", from: -1}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case !t.op:
			p.covers(t)
			p.command.words = append(p.command.words, t.text)
		case t.text == "2>&1" || t.text == ">&2":
			p.covers(t)
			p.command.redirects = append(p.command.redirects, redirect{op: t.text})
		case redirectFlags[t.text] != 0 || t.text == "<":
			if i++; i == len(tokens) || tokens[i].op {
				return nil, syntaxError(t, "a file name must follow")
			}
			p.covers(t)
			p.covers(tokens[i])
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

// parser is the state of parsing a script.
type parser struct {
	script   string
	list     []chain
	open     []pipeline // of the chain being read
	begin    int        // position of the chain's start
	after    string     // the operator before the pipeline being read
	commands []invocation
	command  invocation
	from, to int // position of the pipeline in the script; from is -1 before it
}

// covers adds a token to the pipeline's text.
func (p *parser) covers(t token) {
	if p.from < 0 {
		p.from = t.from
		if len(p.open) == 0 {
			p.begin = t.from
		}
	}
	p.to = t.to
}

// operator ends a command; all operators but "|" end the pipeline, too.
func (p *parser) operator(t token) error {
	empty := len(p.command.words) == 0
	switch {
	case empty && len(p.command.redirects) > 0:
		return syntaxError(t, "there is no command before it")
	case empty && len(p.commands) == 0 && p.after == ";" && (t.text == ";" || t.text == "\n"):
		return nil // an empty line
	case empty && t.text == "\n" && (len(p.commands) > 0 || p.after != ";"):
		return nil // the chain continues in the next line
	case empty:
		return syntaxError(t, "there is no command before it")
	}
	p.commands = append(p.commands, p.command)
	p.command = invocation{}
	if t.text == "|" {
		return nil
	}
	p.open = append(p.open, pipeline{p.after, p.commands, p.script[p.from:p.to]})
	p.commands, p.from = nil, -1
	if t.text == "&&" || t.text == "||" {
		p.after = t.text
		return nil
	}
	p.list = append(p.list, chain{p.open, t.text == "&", p.script[p.begin:p.to]})
	p.open, p.after = nil, ";"
	return nil
}

func syntaxError(t token, why string) error {
	text := t.text
	if text == "\n" {
		text = "end of line"
	}
	return refusal.New(syscall.EINVAL, "line %d: %q: %s", t.line, text, why)
}
