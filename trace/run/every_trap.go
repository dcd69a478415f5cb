package run

// Trap context: what is called at hits of which only some are meant.

import (
	"sync/atomic"

	"sonde/kernel/attach"
	kbpf "sonde/kernel/bpf"
)

// link attaches a program, to be called at each nth hit.
//
// Errors: those of attach.ParseSite and kbpf.Prog.AttachThrough.
func link(p *kbpf.Prog, n uint64, places []string) (*kbpf.Link, error) {
	if n <= 1 {
		return p.Attach("bt", places...)
	}
	sites := make([]attach.Site, len(places))
	for i, place := range places {
		s, err := attach.ParseSite(place)
		if err != nil {
			return nil, err
		}
		sites[i] = s
	}
	var hits atomic.Uint64
	return p.AttachThrough(sites, &attach.Options{Owner: "bt"}, func(h *attach.Hit, program attach.Handler) bool {
		if hits.Add(1)%n != 0 {
			return false
		}
		h.Call(program)
		return true
	})
}
