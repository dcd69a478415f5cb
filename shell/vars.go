package shell

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// How much a shell may remember: names, and bytes in them.
const (
	maxNames = 1000
	maxBytes = 1 << 20
)

// state is what commands change in a shell. ( ), pipes and & work on a copy.
type state struct {
	vars   map[string]expand.Variable
	funcs  map[string]*function
	params []string
	dir    string
	opts   options
	bytes  int // in vars and funcs

	status      int // $?
	substituted int // the status of the last $( )
	signal      int // that has ended the last program
	last        string

	flow   flow
	levels int                          // loops to leave
	loops  int                          // loops around
	tested bool                         // set -e does not count
	depth  int                          // of statements within statements
	trap   string                       // what runs at the end of the script
	locals []map[string]expand.Variable // what the functions that run have hidden
	source string                       // the text of what runs
}

// options are what set changes.
type options struct{ exit, unset, trace, noGlob, pipeFail bool }

// function is a function of a script.
type function struct {
	body   *syntax.Stmt
	source string
	size   int
}

// newState is the state of a new shell: the environment of programs.
func newState() *state {
	t := &state{vars: make(map[string]expand.Variable), funcs: make(map[string]*function), dir: "/"}
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		t.vars[name] = expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}
	}
	return t
}

// clone is a copy for a shell apart.
func (t *state) clone() *state {
	c := *t
	c.vars, c.funcs = maps.Clone(t.vars), maps.Clone(t.funcs)
	c.locals = nil
	for _, l := range t.locals {
		c.locals = append(c.locals, maps.Clone(l))
	}
	c.flow, c.loops, c.trap = onward, 0, ""
	return &c
}

// Get implements expand.Environ: variables, and what the shell knows by itself.
func (s *Shell) Get(name string) expand.Variable {
	text := ""
	switch name {
	case "?":
		text = strconv.Itoa(s.status)
	case "$":
		text = "1"
	case "!":
		text = s.last
	case "#":
		text = strconv.Itoa(len(s.params))
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: s.params}
	case "0":
		text = s.name
	case "-":
		text = s.opts.letters()
	case "PWD":
		text = s.dir
	case "RANDOM":
		text = strconv.Itoa(rand.IntN(1 << 15))
	default:
		n, err := strconv.Atoi(name)
		if err != nil {
			return s.vars[name]
		}
		if n < 1 || n > len(s.params) {
			return expand.Variable{}
		}
		text = s.params[n-1]
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: text}
}

// Each implements expand.Environ.
func (s *Shell) Each(f func(name string, v expand.Variable) bool) {
	for _, name := range slices.Sorted(maps.Keys(s.vars)) {
		if !f(name, s.vars[name]) {
			return
		}
	}
}

// Set implements expand.WriteEnviron.
//
// Errors: for a variable that is readonly, or too much.
func (s *Shell) Set(name string, v expand.Variable) error {
	old, known := s.vars[name]
	if old.ReadOnly {
		return fmt.Errorf("%s is readonly", name)
	}
	if !v.IsSet() {
		s.bytes -= size(old)
		delete(s.vars, name)
		return nil
	}
	v.Exported = v.Exported || old.Exported
	if !known && len(s.vars) >= maxNames {
		return fmt.Errorf("%s: there are %d variables already", name, maxNames)
	}
	if s.bytes+size(v)-size(old) > maxBytes {
		return fmt.Errorf("%s: variables and functions would take more than %d bytes", name, maxBytes)
	}
	s.bytes += size(v) - size(old)
	s.vars[name] = v
	return nil
}

// Export gives the shell and its programs a variable.
//
// Errors: as Set.
func (s *Shell) Export(name, text string) error {
	return s.Set(name, expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: text})
}

// set sets a variable to a text.
func (s *Shell) set(name, text string) error {
	return s.Set(name, expand.Variable{Set: true, Kind: expand.String, Str: text})
}

// size is what a variable counts for.
func size(v expand.Variable) int {
	n := len(v.Str)
	for _, e := range v.List {
		n += len(e) + 16
	}
	return n
}

// assign carries out NAME=VALUE.
func (s *Shell) assign(a *syntax.Assign) error {
	name := a.Name.Value
	v := s.vars[name]
	switch {
	case a.Index != nil:
		return s.assignAt(a)
	case a.Array != nil:
		list, err := s.elements(a.Array)
		if err != nil {
			return err
		}
		if a.Append {
			list = append(slices.Clone(v.List), list...)
		}
		return s.Set(name, expand.Variable{Set: true, Kind: expand.Indexed, List: list})
	}
	text, err := s.literal(a.Value)
	if err == nil && a.Append {
		text = v.String() + text
	}
	if err != nil {
		return err
	}
	return s.set(name, text)
}

// assignAt carries out NAME[INDEX]=VALUE.
func (s *Shell) assignAt(a *syntax.Assign) error {
	n, err := s.arithm(a.Index)
	if err != nil {
		return err
	}
	list := slices.Clone(s.vars[a.Name.Value].List)
	if n < 0 || n > len(list) {
		return fmt.Errorf("%s[%d]: arrays have no gaps, and this one has %d elements", a.Name.Value, n, len(list))
	}
	text, err := s.literal(a.Value)
	if err != nil {
		return err
	}
	list = append(list[:n:n], append([]string{text}, list[min(n+1, len(list)):]...)...)
	return s.Set(a.Name.Value, expand.Variable{Set: true, Kind: expand.Indexed, List: list})
}

func (s *Shell) elements(a *syntax.ArrayExpr) (list []string, err error) {
	var words []*syntax.Word
	for _, e := range a.Elems {
		if e.Index != nil {
			return nil, fmt.Errorf("elements with an index are not supported")
		}
		words = append(words, e.Value)
	}
	return s.fields(words)
}

// environ is the environment of programs.
func (s *Shell) environ() (list []string) {
	s.Each(func(name string, v expand.Variable) bool {
		if v.Exported {
			list = append(list, name+"="+s.Get(name).String())
		}
		return true
	})
	return list
}

// letters is $-.
func (o options) letters() string {
	text := ""
	for _, l := range o.list() {
		if *l.on {
			text += string(l.letter)
		}
	}
	return text
}
