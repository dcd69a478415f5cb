package vfs

import (
	"math"
	"slices"
)

// Record is a lock of some bytes of a file, as fcntl makes them: advice among those
// who ask. Locks of different owners may share bytes when none of them is exclusive.
type Record struct {
	First, Last int64 // bytes; ToEnd as Last: all behind First, however long the file gets
	Exclusive   bool
	Owner       any // what can be compared: a table of descriptors, or an open *File
	PID         int // for people
}

// ToEnd is the Last of a Record without an end.
const ToEnd = math.MaxInt64

// recordList is the locks of one file. Those of one owner have no byte in common, and
// neighbours of one kind are one lock.
type recordList []Record

// conflicts returns those that do not let r be.
func (l recordList) conflicts(r Record) (all []Record) {
	for _, o := range l {
		if o.Owner != r.Owner && o.overlaps(r) && (o.Exclusive || r.Exclusive) {
			all = append(all, o)
		}
	}
	return all
}

// without returns the list in which r's owner has none of r's bytes: what reaches
// beyond them is cut, or split.
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

// with returns the list in which r's owner has r, in place of what it has of these
// bytes, and as one with its neighbours of the same kind.
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

// touches is overlaps, or one begins where the other ends. First is not negative.
func (r Record) touches(o Record) bool { return r.First-1 <= o.Last && o.First-1 <= r.Last }
