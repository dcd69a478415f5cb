package module

import (
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// unknown returns the error for a name that no module has, with similar names. The caller
// holds table.mu.
func unknown(name string) error {
	var near []string
	for known := range table.known {
		if isNear(name, known) {
			near = append(near, known)
		}
	}
	if len(near) == 0 {
		return refusal.New(syscall.ENOENT, "no such module")
	}
	slices.Sort(near)
	return refusal.New(syscall.ENOENT, "no such module, perhaps %s", strings.Join(near, ", "))
}

// isNear reports whether one name is part of the other, or differs in at most two
// characters; "-" and "_" are the same, and a final ".ko" is ignored.
func isNear(name, known string) bool {
	plain := strings.NewReplacer("-", "_")
	name, known = plain.Replace(strings.TrimSuffix(name, ".ko")), plain.Replace(known)
	if name == "" {
		return false
	}
	return strings.Contains(known, name) || strings.Contains(name, known) || distance(name, known) <= 2
}

// distance counts the characters to change, insert or delete to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
