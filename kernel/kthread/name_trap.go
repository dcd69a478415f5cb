package kthread

// Trap context. The name of what a CPU runs.

import "unsafe"

// NameOf returns the name of the thread that goroutine g is, or was started by, as As has set it; "": g is no thread's.
//
// Context: any, where g cannot run meanwhile, or is the caller's.
func NameOf(g unsafe.Pointer) string {
	if g == nil {
		return ""
	}
	set := (*labels)(labelsOf(g)) // Safe because: only With sets them, and g keeps them
	if set == nil {
		return ""
	}
	for i := range set.list {
		if set.list[i].key == nameKey {
			return set.list[i].value
		}
	}
	return ""
}
