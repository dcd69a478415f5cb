//go:build tamago

package suites

import (
	"slices"

	"sonde/kernel/tape"
	"sonde/kwatch"
	"sonde/probe/attach"
)

func init() { begin = attached }

// attached is begin. A case that ends early may leave what changes how the hits of later cases come: while something is
// watched, those of programs lead to goroutines, and while the way to a jump is recorded, nothing else can.
func attached() func() []string {
	links, watched, taping := attach.Links(), kwatch.All(), tape.On()
	return func() (left []string) {
		for _, l := range attach.Links() {
			if !slices.Contains(links, l) {
				left = append(left, "a link at "+l.Places()[0].Where)
				l.Close()
			}
		}
		for _, w := range kwatch.All() {
			if !slices.ContainsFunc(watched, func(o kwatch.Info) bool { return o.DebugReg == w.DebugReg }) {
				left = append(left, "a watchpoint at "+w.Where)
				kwatch.UnregisterKwatch(w.DebugReg)
			}
		}
		if tape.On() && !taping {
			left = append(left, "the recording of the way to a jump")
			tape.Stop()
		}
		return left
	}
}
