package kallsyms

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	maxNear     = 3  // similar names in an error message
	maxDistance = 2  // edits that still count as a mistyped name
	maxEditLen  = 64 // longer names are compared by substring only
)

// unknown says that nothing fits a name. Similar names are looked for when its words are asked for: a program gets
// the errno alone.
type unknown struct {
	table *Table
	name  string
}

func (u *unknown) Error() string {
	return fmt.Sprintf("%v %s%s", ErrUnknown, u.name, Hint(u.table.Near(u.name)))
}

func (u *unknown) Unwrap() error { return ErrUnknown }

// nearest collects the names with the lowest score.
type nearest struct {
	score int
	names []string
}

func (n *nearest) add(name string, score int) {
	if score > n.score || slices.Contains(n.names, name) {
		return
	}
	if score < n.score {
		n.score, n.names = score, nil
	}
	if len(n.names) < maxNear {
		n.names = append(n.names, name)
	}
}

// Near returns the names whose part after the last slash is the fewest edits away from name's, at
// most maxDistance; if there are none, the shortest names that contain name. It leaves out names
// that the compiler made. It costs one pass over the names; the length of nearly all rules them out.
func (t *Table) Near(name string) []string {
	best := nearest{score: math.MaxInt}
	want := strings.ToLower(Base(name))
	for i := range t.n {
		have := t.name(i)
		if score, ok := similarity(Base(have), want); ok && score <= best.score && !compilerMade(have) {
			best.add(have, score)
		}
	}
	return best.names
}

// Nearest returns those of names that are the fewest edits away from typed: at most two, or one if
// typed is short. What was typed is none of them.
func Nearest(typed string, names []string) []string {
	best := nearest{score: maxDistance}
	if len(typed) <= 3 {
		best.score = 1
	}
	for _, name := range names {
		if name != typed {
			best.add(name, distance(typed, name))
		}
	}
	return best.names
}

// DidYouMean asks whether one of some names was meant; "" of none.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}

// Hint is DidYouMean as the end of an error.
func Hint(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return " (" + DidYouMean(near) + ")"
}

// compilerMade reports whether the compiler made the function or variable of that name: type data,
// equality functions, wrappers of deferred calls and of method values, and wrappers of promoted
// methods that are not exported, which have the name of their package in the middle.
func compilerMade(name string) bool {
	path := path(name)
	if strings.Contains(path, ":") || strings.Contains(path, ".deferwrap") || strings.Contains(path, ".gowrap") || strings.HasSuffix(path, "-fm") {
		return true
	}
	dir := path[:len(path)-len(Base(path))]
	first, rest, _ := strings.Cut(dir, "/") // the first element may be a domain
	return strings.Contains(first, "(") || strings.Contains(rest, ".")
}

// similarity scores how far have is from want, which is in lower case; lower
// is closer. Names without any likeness are not ok.
func similarity(have, want string) (score int, ok bool) {
	if diff := len(have) - len(want); -maxDistance <= diff && diff <= maxDistance {
		if d := distance(have, want); d <= maxDistance {
			return d, true
		}
	}
	if len(want) >= 3 && len(have) > len(want) && containsFold(have, want) {
		return maxDistance + len(have) - len(want), true
	}
	return 0, false
}

// containsFold reports whether s contains the lower-case sub, ignoring the
// case of ASCII letters, without making a copy of s.
func containsFold(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		j := 0
		for j < len(sub) && lower(s[i+j]) == sub[j] {
			j++
		}
		if j == len(sub) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// distance is the number of edits that turn a into b: characters that are inserted, removed or
// replaced, and neighbours that change places. It ignores the case of a, and gives up with
// maxDistance+1 as soon as the result must be larger.
func distance(a, b string) int {
	if len(a) > maxEditLen || len(b) > maxEditLen {
		return maxDistance + 1
	}
	var rows [3][maxEditLen + 1]int // for the last three prefixes of a, by the length of b's
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := range len(a) {
		row, above, two := &rows[(i+1)%3], &rows[i%3], &rows[(i+2)%3]
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			d := above[j]
			if lower(a[i]) != b[j] {
				d = 1 + min(d, above[j+1], row[j])
			}
			if i > 0 && j > 0 && lower(a[i]) == b[j-1] && lower(a[i-1]) == b[j] {
				d = min(d, 1+two[j-1])
			}
			row[j+1] = d
			least = min(least, d)
		}
		if least > maxDistance+1 { // a transposition looks two rows back
			return maxDistance + 1
		}
	}
	return min(rows[len(a)%3][len(b)], maxDistance+1)
}
