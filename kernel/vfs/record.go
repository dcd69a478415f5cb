package vfs

import (
	"math"
	"slices"
)

// Record is an advisory lock on some bytes of a file, made by fcntl. Locks of different owners may
// overlap if none of them is exclusive.
type Record struct {
	First, Last int64 // bytes; ToEnd as Last: to the end, however long the file becomes
	Exclusive   bool
	Owner       any // comparable: a table of descriptors, or an open *File
	PID         int // shown to people
}

// ToEnd is the Last of a Record without an end.
const ToEnd = math.MaxInt64

// recordList is the locks of one file. Locks of one owner do not overlap, and adjacent ones of the
// same kind are merged.
type recordList []Record

// conflicts returns the locks that conflict with r.
func (l recordList) conflicts(r Record) (all []Record) {
	for _, o := range l {
		if o.Owner != r.Owner && o.overlaps(r) && (o.Exclusive || r.Exclusive) {
			all = append(all, o)
		}
	}
	return all
}

// without returns the list without the bytes of r for r's owner: locks that extend beyond them are
// shortened, or split.
func (l recordList) without(r Record) recordList {
	rest := make(recordList, 0, len(l)+2)
	for _, o := range l {
		if o.Owner != r.Owner || !o.overlaps(r) {
			rest = append(rest, o)
			continue
		}
		if o.First < r.First {
			left := o
			left.Last = r.First - 1
			rest = append(rest, left)
		}
		if o.Last > r.Last {
			o.First = r.Last + 1
			rest = append(rest, o)
		}
	}
	return rest
}

// with returns the list with r for r's owner, in place of the owner's locks on these bytes, and
// merged with adjacent locks of the same kind.
func (l recordList) with(r Record) recordList {
	merged := slices.DeleteFunc(l.without(r), func(o Record) bool {
		same := o.Owner == r.Owner && o.Exclusive == r.Exclusive && o.touches(r)
		if same {
			r.First, r.Last = min(r.First, o.First), max(r.Last, o.Last)
		}
		return same
	})
	return append(merged, r)
}

func (r Record) overlaps(o Record) bool { return r.First <= o.Last && o.First <= r.Last }

// touches reports whether r and o overlap or are adjacent. First is not negative.
func (r Record) touches(o Record) bool { return r.First-1 <= o.Last && o.First-1 <= r.Last }
