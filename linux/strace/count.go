package strace

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// count is what -c knows of a call.
type count struct {
	name          string
	calls, errors int
	time          time.Duration // from entry to return; strace without -w counts CPU time
}

// count adds a call. mu held.
func (t *Tracer) count(c *call, took time.Duration) {
	name := c.shown.Call.Name
	n := t.counts[name]
	if n == nil {
		n = &count{name: name}
		t.counts[name] = n
	}
	n.calls++
	n.time += took
	if c.shown.Failed() {
		n.errors++
	}
}

// WriteTable writes what was counted, as strace -c -w does: what took longest comes
// first.
func (t *Tracer) WriteTable(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.SortedFunc(maps.Values(t.counts), func(a, b *count) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.name, b.name))
	})
	total := count{name: "total"}
	for _, c := range all {
		total.calls += c.calls
		total.errors += c.errors
		total.time += c.time
	}
	const rule = "------ ----------- ----------- --------- --------- ----------------"
	fmt.Fprintln(w, "% time     seconds  usecs/call     calls    errors syscall\n"+rule)
	for _, c := range all {
		c.write(w, total.time)
	}
	fmt.Fprintln(w, rule)
	total.write(w, total.time)
}

func (c *count) write(w io.Writer, total time.Duration) {
	share, each, errors := 100.0, time.Duration(0), ""
	if total > 0 {
		share = 100 * float64(c.time) / float64(total)
	}
	if c.calls > 0 {
		each = c.time / time.Duration(c.calls)
	}
	if c.errors > 0 {
		errors = fmt.Sprint(c.errors)
	}
	fmt.Fprintf(w, "%6.2f %11.6f %11d %9d %9s %s\n", share, c.time.Seconds(), each.Microseconds(), c.calls, errors, c.name)
}
