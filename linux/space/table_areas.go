package space

import (
	"slices"
	"sync/atomic"
	"syscall"
)

// A table is areas with unused space at both ends: addresses are chosen from the top down, so a new
// area goes in front of nearly all others.
type table struct {
	areas
	buf  []area // areas is a slice of it
	sum  *atomic.Int64
	most int64 // of sum: see Machine.mostAreas
}

// newTable returns an empty table of a space of m.
func (m *Machine) newTable() table { return table{sum: &m.areas, most: m.mostAreas()} }

// mostAreas is how many areas all spaces of m may have together. They are in the kernel's memory,
// each with less than 128 bytes, and a fork copies them.
func (m *Machine) mostAreas() int64 { return max(maxAreas+maxAreas/4, int64(m.RAM/2048)) }

// roomFor refuses if the table, or all tables together, would become too long when areas are split
// n more times.
func (t *table) roomFor(n int) error {
	if len(t.areas)+n > maxAreas {
		return refuse(syscall.ENOMEM, "%d areas are too many", len(t.areas)+n)
	}
	return t.roomInAll(n)
}

// roomInAll refuses if all tables together would become too long with n areas more.
func (t *table) roomInAll(n int) error {
	if all := t.sum.Load() + int64(n); all > t.most {
		return refuse(syscall.ENOMEM, "%d areas of all programs are too many", all)
	}
	return nil
}

// insertAt inserts a as number i, and moves the areas before it or after it, whichever are fewer.
func (t *table) insertAt(i int, a area) {
	n := len(t.areas)
	before := cap(t.buf) - cap(t.areas)
	atFront := i < n/2
	if atFront && before == 0 || !atFront && cap(t.areas) == n {
		t.recentre()
		before = cap(t.buf) - cap(t.areas)
	}
	if atFront {
		t.areas = t.buf[before-1 : before+n]
		copy(t.areas[:i], t.areas[1:i+1])
	} else {
		t.areas = t.areas[:n+1]
		copy(t.areas[i+1:], t.areas[i:n])
	}
	t.areas[i] = a
	t.sum.Add(1)
}

// recentre moves the areas so that there is space at both ends.
func (t *table) recentre() {
	n := len(t.areas)
	buf := make([]area, 2*n+16)
	copy(buf[n/2+8:], t.areas)
	t.buf, t.areas = buf, buf[n/2+8:n/2+8+n]
}

// delete takes out the areas from number i to j-1.
func (t *table) delete(i, j int) {
	t.sum.Add(int64(i - j))
	if i >= len(t.areas)-j {
		t.areas = slices.Delete(t.areas, i, j)
		return
	}
	copy(t.areas[j-i:j], t.areas[:i])
	clear(t.areas[:j-i])
	t.areas = t.areas[j-i:]
}

// split splits the area that contains addr, unless it begins there.
func (t *table) split(addr uint64) {
	i := t.index(addr)
	if i == len(t.areas) || t.areas[i].start >= addr {
		return
	}
	low := t.areas[i]
	high := low
	low.end, high.start = addr, addr
	high.off += addr - low.start
	high.hold()
	t.areas[i] = high
	t.insertAt(i, low)
}

// cut removes [start,end), and returns how many bytes of it were in areas, and counted.
func (t *table) cut(start, end uint64) (bytes uint64) {
	t.split(start)
	t.split(end)
	i, j := t.in(start, end)
	for k := i; k < j; k++ {
		bytes += t.areas[k].counts(t.areas[k].end - t.areas[k].start)
		t.areas[k].drop()
	}
	t.delete(i, j)
	return bytes
}

// insert adds a at a free range; the table takes over the reference to its backing.
func (t *table) insert(a area) {
	i := t.index(a.start)
	t.insertAt(i, a)
	t.join(i, i+2)
}

// join merges the areas with numbers from i-1 to j-1 if possible.
func (t *table) join(i, j int) {
	for k := min(j, len(t.areas)) - 1; k >= max(i, 1); k-- {
		if a, b := &t.areas[k-1], &t.areas[k]; a.continues(b) {
			a.end = b.end
			b.drop()
			t.delete(k, k+1)
		}
	}
}
