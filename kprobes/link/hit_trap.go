package link

// Trap context. What the probes of a link have as their handlers: each calls the link's handler. When it
// is decided whether the registers must be saved, and who is to be blamed, that one counts, not these
// (kprobes.Kprobe, Place).

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/probe/attach"
)

// count is for links without a handler: the probe counts its hits.
func count(*kprobes.Kprobe, *amd64.Regs) int { return 0 }

func hit(k *kprobes.Kprobe, r *amd64.Regs) int {
	h := attach.Hit{Regs: r, Place: k.Place, IP: k.Place.Addr}
	h.Call(k.Place.Link.Handler)
	return 0
}

func entry(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
	at := ri.RP.KP.Place
	h := attach.Hit{Regs: r, Place: at, IP: at.Addr, Data: words(ri.Data)}
	if h.CallEntry(at.Link.Options.Entry) {
		return 0
	}
	return 1
}

func returns(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
	at := ri.RP.KP.Place
	h := attach.Hit{Regs: r, Place: at, IP: uint64(ri.RetAddr)}
	h.Returns = true // in the literal, it would have all of that copied
	if len(ri.Data) > 0 {
		h.Data = words(ri.Data)
	}
	h.Call(at.Link.Handler)
	return 0
}

// words is the data of a call. Safe because: the pool's memory is aligned, and of whole words.
func words(data []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/wordSize)
}
