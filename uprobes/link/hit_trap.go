package link

// Trap context, unless the link's handler may block: then it is the thread's goroutine. What the probes
// of a link have as their handlers: each calls the link's. When it is decided whether the registers must
// be saved, and who is to be blamed, that one counts, not these (uprobes.Uprobe, Place).

import (
	"sonde/arch/amd64"
	"sonde/probe/attach"
	"sonde/uprobes"
)

func hit(u *uprobes.Uprobe, r *amd64.Regs) {
	at := u.Place
	f := at.Link.Handler
	if f == nil {
		return // the probe counts its hits
	}
	h := attach.Hit{Regs: r, Place: at, IP: r.IP, MayBlock: at.Link.Options.Block}
	h.Call(f)
}

func returns(ri *uprobes.UretprobeInstance, r *amd64.Regs) {
	at := ri.RP.U.Place
	f := at.Link.Handler
	if f == nil {
		return
	}
	h := attach.Hit{Regs: r, Place: at, IP: r.IP, MayBlock: at.Link.Options.Block}
	h.Returns, h.Data = true, ri.Data // in the literal, they would have all of it copied
	h.Call(f)
}

func entry(ri *uprobes.UretprobeInstance, r *amd64.Regs) int {
	at := ri.RP.U.Place
	h := attach.Hit{Regs: r, Place: at, IP: r.IP, MayBlock: at.Link.Options.Block}
	h.Data = ri.Data
	if h.CallEntry(at.Link.Options.Entry) {
		return 0
	}
	return 1
}
