package link

// Trap context, unless the link's handler may block: then it is the thread's goroutine. What the probes
// of a link have as their handlers: each calls the link's. When it is decided whether the registers must
// be saved, and who is to be blamed, that one counts, not these (uprobes.Uprobe, Place).

import (
	"sonde/arch/amd64"
	"sonde/kernel/attach"
	"sonde/uprobes"
)

func hit(u *uprobes.Uprobe, r *amd64.Regs) { call(u.Place, r, false) }

func returns(ri *uprobes.UretprobeInstance, r *amd64.Regs) { call(ri.RP.U.Place, r, true) }

func call(at *attach.Place, r *amd64.Regs, returns bool) {
	f := at.Link.Handler
	if f == nil {
		return // the probe counts its hits
	}
	h := attach.Hit{Regs: r, Place: at, IP: r.IP, Returns: returns, MayBlock: at.Link.Options.Block}
	h.Call(f)
}
