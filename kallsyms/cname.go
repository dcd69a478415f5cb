package kallsyms

import (
	"slices"
	"strconv"
	"strings"
)

// CNames returns for each of names, Go's names of functions, one that C allows,
// for tools that know only such symbols. All results differ.
//
// The path is cut at its last slash, each byte that C does not allow becomes
// "_", and a run of them one "_": sonde/kernel/vfs.(*File).ReadWait becomes
// vfs_File_ReadWait. Where functions meet, all of them get the next part of
// their path. Functions that still meet, such as a method and the wrapper that
// takes a pointer, are numbered in the order of their Go names from the second
// on: T_Len, T_Len_2.
func CNames(names []string) []string {
	n := naming{names: names, short: make([]string, len(names)), parts: make([]int, len(names)), of: make([]int, len(names)),
		known: make(map[string]int, len(names)), count: make([]int, 0, len(names))}
	for i := range names {
		n.shorten(i)
	}
	for n.lengthen() {
	}
	n.number()
	return n.short
}

// CName returns what CNames returns for a name alone.
func CName(name string) string { return cName(name, 0) }

// naming is the work of CNames. A short name has a number, so that it is looked up once.
type naming struct {
	names, short []string
	parts        []int          // of its path, that each short name has
	of           []int          // the number of each short name
	known        map[string]int // numbers
	count        []int          // how many have a short name, by its number
}

// shorten gives function i the name that it has with so many parts of its path.
func (n *naming) shorten(i int) { n.call(i, cName(n.names[i], n.parts[i])) }

func (n *naming) call(i int, short string) {
	of, ok := n.known[short]
	if !ok {
		of = len(n.count)
		n.known[short], n.count = of, append(n.count, 0)
	}
	n.short[i], n.of[i] = short, of
	n.count[of]++
}

// shares reports whether function i shares its name.
func (n *naming) shares(i int) bool { return n.count[n.of[i]] > 1 }

// lengthen gives the functions that share a name the next part of their path,
// and reports whether any had one.
func (n *naming) lengthen() bool {
	var longer []int
	for i, name := range n.names {
		if n.shares(i) && n.parts[i] < slashes(name) {
			longer = append(longer, i)
		}
	}
	for _, i := range longer {
		n.count[n.of[i]]--
		n.parts[i]++
		n.shorten(i)
	}
	return longer != nil
}

// number makes the names differ that the path could not tell apart.
func (n *naming) number() {
	var order []int // of those that share a name
	for i := range n.names {
		if n.shares(i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(n.names[a], n.names[b]) })

	next := make([]int, len(n.count))
	for _, i := range order {
		at := &next[n.of[i]]
		if *at == 0 {
			*at = 2
			continue
		}
		name := n.short[i]
		for base := name; n.taken(name); *at++ {
			name = base + "_" + strconv.Itoa(*at)
		}
		n.call(i, name)
	}
}

func (n *naming) taken(name string) bool {
	of, ok := n.known[name]
	return ok && n.count[of] > 0
}

// cName returns the C name with that many parts of the path before the last.
func cName(name string, parts int) string {
	if isC(name) && !strings.Contains(name, "__") { // as most arguments and fields
		return name
	}
	begin := len(path(name))
	for ; begin > 0; begin-- {
		if name[begin-1] != '/' {
			continue
		}
		if parts == 0 {
			break
		}
		parts--
	}
	b := make([]byte, 0, 64) // most names are shorter: it stays on the stack
	if c := name[begin:]; c != "" && '0' <= c[0] && c[0] <= '9' {
		b = append(b, '_')
	}
	for _, c := range []byte(name[begin:]) {
		if !allowed(c) {
			c = '_'
		}
		if c != '_' || len(b) == 0 || b[len(b)-1] != '_' {
			b = append(b, c)
		}
	}
	return string(b)
}

// path returns what of name may hold slashes of its own path: those after a
// bracket are the paths of type arguments.
func path(name string) string {
	before, _, _ := strings.Cut(name, "[")
	return before
}

// Base returns what follows the path of a symbol's name: vfs.(*File).Read.
//
// Context: any.
func Base(name string) string { return name[strings.LastIndexByte(path(name), '/')+1:] }

// Package returns the path of the package that a symbol's name begins with.
func Package(name string) string {
	in := path(name)
	folders := strings.LastIndexByte(in, '/') + 1
	last, _, _ := strings.Cut(in[folders:], ".")
	return in[:folders+len(last)]
}

func slashes(name string) int { return strings.Count(path(name), "/") }

func allowed(c byte) bool {
	return 'a' <= c && c <= 'z' || c == '_' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
