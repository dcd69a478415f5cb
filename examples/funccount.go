//go:build tamago

package examples

import (
	"cmp"
	"fmt"
	"io"
	"sort"
	"strings"

	"sonde/kernel/module"
	"sonde/probe/attach"
)

// funccount: count the hits of all places that match a pattern: functions of the kernel or of a
// program, system calls, or whatever else can have a probe.
//
//	insmod funccount target=vfs.*
//	insmod funccount target=kernel/vfs/io.go:76
//	insmod funccount target=inline:sync.(*Mutex).Lock
//	cat /sys/kernel/debug/funccount
//	rmmod funccount
//
// Functions that cannot be probed, because hits use them, are left out.
type funccount struct {
	ready
	most int
}

// maxCounted is how many places can be counted: each takes some memory.
const maxCounted = 20_000

func init() {
	module.Register(&module.Module{
		Name: "funccount",
		Doc:  "count the calls of functions: target=vfs.*",
		New:  newFunccount,
	})
}

func newFunccount(name string) *module.Instance {
	c := &funccount{ready: ready{name: name}, most: 20}
	return c.instance("functions, lines, FILE:FUNCTIONS of a program, sys:CALLS ...; * matches any text", attach.ParseSite, module.Params{
		"n": module.Int(&c.most, "show the n most frequent").Within(1, maxShown),
	}, c.init)
}

func (c *funccount) init(at attach.Site) error {
	return c.start(nil, &attach.Options{Most: maxCounted}, c.write, at)
}

// write prints the places that were hit, the most frequent first.
func (c *funccount) write(w io.Writer) {
	places := c.link.Places()
	var hit []attach.Placed
	missed := uint64(0)
	for _, p := range places {
		missed += p.Ledger.Missed()
		if p.Ledger.Entered > 0 {
			hit = append(hit, p)
		}
	}
	sort.Slice(hit, func(i, j int) bool {
		a, b := &hit[i], &hit[j]
		return cmp.Or(cmp.Compare(b.Ledger.Entered, a.Ledger.Entered), strings.Compare(a.Where, b.Where)) < 0
	})
	fmt.Fprintf(w, "%-60s %10s\n", "PLACE", "COUNT")
	for _, p := range hit[:min(len(hit), c.most)] {
		fmt.Fprintf(w, "%-60s %10d\n", strings.TrimSuffix(p.Where, "+0x0"), p.Ledger.Entered)
	}
	if text := c.link.Summary(); text != "" {
		fmt.Fprintf(w, "%s: %s\n", c.target, text)
	}
	fmt.Fprintf(w, "%d of %d places were hit, %s missed, %s cannot be probed\n",
		len(hit), len(places), some(missed, "hit"), some(c.link.Skipped(), "place"))
}
