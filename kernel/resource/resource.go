// Package resource shows what is where in a machine's memory and I/O ports, in the format
// of Linux's /proc/iomem and /proc/ioports: ranges, each below the one that contains it.
package resource

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Tree holds the ranges. The zero Tree has none.
type Tree struct{ top []*node }

// node is [start, last] with what lies inside, in order.
type node struct {
	name        string
	start, last uint64
	sub         []*node
}

// Add says that the n bytes, or ports, from start on belong to name. What is there already
// and inside them comes below them, and they below what they are inside of, which is
// so too where both are the same. Where they lie across the end of another range, both parts are
// shown. Nothing happens if n is 0.
func (t *Tree) Add(name string, start, n uint64) {
	if n == 0 {
		return
	}
	last := start + n - 1
	if last < start {
		last = ^uint64(0)
	}
	t.top = add(t.top, &node{name: name, start: start, last: last})
}

func add(list []*node, one *node) []*node {
	var inside []*node
	rest := list[:0:0]
	for i, old := range list {
		switch {
		case old.last < one.start || old.start > one.last:
			rest = append(rest, old)
		case old.start <= one.start && old.last >= one.last:
			list[i].sub = add(old.sub, one)
			return list
		case one.start <= old.start && one.last >= old.last:
			inside = append(inside, old)
		case one.start < old.start:
			before := &node{name: one.name, start: one.start, last: old.start - 1}
			return add(add(list, before), &node{name: one.name, start: old.start, last: one.last})
		default:
			behind := &node{name: one.name, start: old.last + 1, last: one.last}
			return add(add(list, behind), &node{name: one.name, start: one.start, last: old.last})
		}
	}
	one.sub = append(one.sub, inside...)
	rest = append(rest, one)
	slices.SortFunc(rest, func(a, b *node) int {
		if a.start < b.start {
			return -1
		}
		return 1
	})
	return rest
}

// Print prints the ranges as Linux does: from 65536 on with eight digits, else with four.
func (t *Tree) Print(w io.Writer) error {
	const small = 0x10000
	width := 4
	if len(t.top) > 0 && t.top[len(t.top)-1].last >= small {
		width = 8
	}
	b := bufio.NewWriter(w)
	show(b, t.top, 0, width)
	return b.Flush()
}

func show(w io.Writer, list []*node, depth, width int) {
	for _, n := range list {
		fmt.Fprintf(w, "%s%0*x-%0*x : %s\n", strings.Repeat("  ", depth), width, n.start, width, n.last, n.name)
		show(w, n.sub, depth+1, width)
	}
}
