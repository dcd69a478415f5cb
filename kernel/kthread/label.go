package kthread

import (
	"slices"
	"strings"
	"unsafe"
)

// A goroutine carries labels, and those that it starts inherit them: of which thread it is, and what else callers of
// With want to know of it. They are the labels of profilers.

// labels has the layout of the runtime's goroutine labels.
// Source: Go 1.26 internal/runtime/pprof/label, Set.
type labels struct{ list []label }

type label struct{ key, value string }

// nameKey is the key of the label that has the name of the thread.
const nameKey = "thread"

// Both functions belong to the runtime, Go 1.26 runtime/proflabel.go, which keeps them for
// others to use.
//
//go:linkname setLabels runtime/pprof.runtime_setProfLabel
func setLabels(unsafe.Pointer)

//go:linkname getLabels runtime/pprof.runtime_getProfLabel
func getLabels() unsafe.Pointer

// With calls f, while the caller carries a label beside its others. Afterwards it has those that it had before.
func With(key, value string, f func()) {
	before := getLabels()
	defer setLabels(before)
	all := []label{{key, value}}
	if before != nil {
		others := (*labels)(before).list // Safe because: only With sets them
		all = append(all, slices.DeleteFunc(slices.Clone(others), func(l label) bool { return l.key == key })...)
	}
	// Safe because: labels has the layout that the runtime expects.
	setLabels(unsafe.Pointer(&labels{all}))
	f()
}

// Label returns the value of the caller's label with this key; "": it has none.
func Label(key string) string {
	set := (*labels)(getLabels()) // Safe because: only With sets them
	if set == nil {
		return ""
	}
	for _, l := range set.list {
		if l.key == key {
			return l.value
		}
	}
	return ""
}

// As calls f under a name by which scripts know what runs (comm): that of a command, which a thread runs. It is the
// first word of name.
func As(name string, f func()) {
	if words := strings.Fields(name); len(words) > 0 {
		name = words[0]
	}
	With(nameKey, name, f)
}
