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
	parts := make([]int, len(names))
	short := make([]string, len(names))
	count := make(map[string]int, len(names)) // how many have a short name
	for i, name := range names {
		short[i] = cName(name, 0)
		count[short[i]]++
	}
	for lengthen(names, short, parts, count) {
	}
	number(names, short, count)
	return short
}

// CName returns what CNames returns for a name alone.
func CName(name string) string { return cName(name, 0) }

// lengthen gives the functions that share a name the next part of their path,
// and reports whether any had one.
func lengthen(names, short []string, parts []int, count map[string]int) bool {
	var longer []int
	for i, name := range names {
		if count[short[i]] > 1 && parts[i] < slashes(name) {
			longer = append(longer, i)
		}
	}
	for _, i := range longer {
		count[short[i]]--
		parts[i]++
		short[i] = cName(names[i], parts[i])
		count[short[i]]++
	}
	return longer != nil
}

// number makes the names differ that the path could not tell apart.
func number(names, short []string, count map[string]int) {
	var order []int // of those that share a name
	for i := range names {
		if count[short[i]] > 1 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })

	next := make(map[string]int)
	for _, i := range order {
		base := short[i]
		if next[base] == 0 {
			next[base] = 2
			continue
		}
		for count[short[i]] > 0 {
			short[i] = base + "_" + strconv.Itoa(next[base])
			next[base]++
		}
		count[short[i]] = 1
	}
}

// cName returns the C name with that many parts of the path before the last.
func cName(name string, parts int) string {
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
	if isC(name[begin:]) && !strings.Contains(name[begin:], "__") {
		return name[begin:]
	}
	b := make([]byte, 0, len(name)-begin+1)
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

// path returns what of name may hold slashes of its own path: those behind a
// bracket are the paths of type arguments.
func path(name string) string {
	before, _, _ := strings.Cut(name, "[")
	return before
}

func slashes(name string) int { return strings.Count(path(name), "/") }

func allowed(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
