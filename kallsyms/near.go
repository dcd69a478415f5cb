package kallsyms

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	maxNear     = 5  // similar names in an error message
	maxDistance = 2  // edits that still count as a slip of the finger
	maxEditLen  = 64 // longer names are compared by substring only
)

// unknown builds the error for a name that nothing fits, with similar names.
func (t *Table) unknown(name string) error {
	near := t.near(name)
	if len(near) == 0 {
		return fmt.Errorf("kallsyms: %q: %w", name, ErrUnknown)
	}
	return fmt.Errorf("kallsyms: %q: %w (did you mean %s?)",
		name, ErrUnknown, strings.Join(near, ", "))
}

// near returns the names most similar to name: those that contain it, and
// those whose part after the last slash is at most maxDistance edits away.
// It costs one pass over the names; the length of nearly all rules them out.
func (t *Table) near(name string) []string {
	type candidate struct {
		name  string
		score int
	}
	var best []candidate
	want := strings.ToLower(tail(name))
	for i := range t.n {
		score, ok := similarity(tail(t.name(i)), want)
		if !ok {
			continue
		}
		best = append(best, candidate{t.name(i), score})
		if len(best) >= 4*maxNear {
			slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(a.score, b.score) })
			best = best[:maxNear]
		}
	}
	slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(a.score, b.score) })
	var names []string
	for _, c := range best {
		if len(names) < maxNear && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
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

// tail returns what follows the last slash of a name's path. Slashes within
// the brackets of a type argument are not the path's.
func tail(name string) string {
	path, _, _ := strings.Cut(name, "[")
	return name[strings.LastIndexByte(path, '/')+1:]
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

// Similar reports whether a name may be a slip of the finger for another: two characters off, or
// one in short ones.
func Similar(typed, name string) bool {
	most := maxDistance
	if len(typed) <= 3 {
		most = 1
	}
	return distance(typed, name) <= most
}

// distance is the Levenshtein distance of a and b, ignoring the case of a. It
// gives up with maxDistance+1 as soon as the result must be larger.
func distance(a, b string) int {
	if len(a) > maxEditLen || len(b) > maxEditLen {
		return maxDistance + 1
	}
	var row [maxEditLen + 1]int
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if lower(a[i]) != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least > maxDistance {
			return maxDistance + 1
		}
	}
	return row[len(b)]
}
