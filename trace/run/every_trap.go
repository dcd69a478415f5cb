package run

// Trap context: what is called at hits of which only some are meant.

import (
	"sync/atomic"
	"syscall"

	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/program"
	"sonde/trace/lang"
)

// link attaches a program to sites, to be called at the hits that the target means, but not at those of a goroutine;
// a pattern may fit most of them.
// What is left to do comes after c.
//
// Errors: those of program.Prog.Begin; E2BIG there are more.
func link(c *grace.Change, p *program.Prog, t *lang.Target, sites []attach.Site, self uint64, most int) (*program.Link, error) {
	if len(sites) > most {
		return nil, refusal.New(syscall.E2BIG, "%d more places do not fit: %d are left", len(sites), max(0, most))
	}
	for i := range min(len(sites), len(t.Cookies)) {
		sites[i].Cookie = t.Cookies[i]
	}
	o := &program.Options{Options: attach.Options{Owner: "bt", Most: most}}
	if n := max(1, t.Every); n > 1 || self != 0 {
		var hits atomic.Uint64
		o.Through = func(h *attach.Hit, f attach.Handler) bool {
			if self != 0 && !h.MayBlock && program.Goid(h) == self || hits.Add(1)%n != 0 {
				return false
			}
			h.Call(f)
			return true
		}
	}
	return p.Begin(c, sites, o)
}
