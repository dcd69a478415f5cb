package gotypes

import (
	"strings"

	"sonde/kallsyms"
)

// Entry is a function of the image.
type Entry struct {
	Addr uint64
	Name string
}

// Entries returns all functions of an image, in the order of addresses; those of one address count once.
func Entries(syms *kallsyms.Table) (list []Entry) {
	for s := range syms.Text {
		if n := len(list); n > 0 && list[n-1].Addr == s.Addr {
			list[n-1].Name = s.Name // the last is what is there
		} else {
			list = append(list, Entry{s.Addr, s.Name})
		}
	}
	return list
}

// What is known of a function, and which guesses are right.
const (
	known    = 1 << iota
	hasFirst // it has a receiver
	rightFirst
	rightRest
	rightResults
)

// A guesser foresees what a function takes and gives, from its name and from the functions before: the
// methods of one type have the same first argument, and methods of one name mostly the same others.
type guesser struct {
	first map[string]Param // by what stands before the method's name
	lists map[string][2][]Param
}

type guess struct {
	first         Param
	rest, results []Param
	hasRest       bool
}

func newGuesser() guesser {
	return guesser{map[string]Param{}, map[string][2][]Param{}}
}

// cutName cuts a function's name at its last point: receiver or package, and method.
func cutName(name string) (of, method string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}

func (g guesser) guess(name string) (x guess) {
	of, method := cutName(name)
	x.first = g.first[of]
	lists, ok := g.lists[method]
	x.rest, x.results, x.hasRest = lists[0], lists[1], ok
	return x
}

// receiver cuts the receiver off the arguments of what has the name of a method; closures look alike.
func receiver(name string, params []Param) (first, rest []Param) {
	of, _ := cutName(name)
	path, _, _ := strings.Cut(of, "[")
	if !strings.Contains(of[strings.LastIndexByte(path, '/')+1:], ".") || len(params) == 0 {
		return nil, params
	}
	return params[:1], params[1:]
}

// learn notes what a function has.
func (g guesser) learn(name string, first, rest, results []Param) {
	of, method := cutName(name)
	if len(first) > 0 {
		g.first[of] = first[0]
	}
	g.lists[method] = [2][]Param{rest, results}
}
