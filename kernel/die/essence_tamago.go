//go:build tamago

package die

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/screen"
	"sonde/kernel/screen/qr"
	"sonde/kernel/stack"
)

// picture is what a crash shows beside its report, so that a telephone can take it from the screen of a machine that has
// no other way out. The checksum of the symbols is made in time, since that allocates.
type picture struct {
	code *qr.Code
	sum  uint32
}

var shown atomic.Pointer[picture]

// ShowCode makes a crash show its essence on the screen.
func ShowCode() error {
	code, err := qr.New()
	if err != nil {
		return err
	}
	p := &picture{code: code}
	if t := kallsyms.Kernel(); t != nil {
		p.sum = t.Sum()
	}
	shown.Store(p)
	return nil
}

// maxFrames is how many callers the essence has.
const maxFrames = 10

// stamp shows the essence of a crash: whose kernel it is, where, and why.
//
// Context: trap; only on the way down.
func stamp(why string, r *amd64.Regs, g unsafe.Pointer) {
	p := shown.Load()
	if p == nil {
		return
	}
	var pcs [maxFrames]uintptr
	n := stack.LinesOf(g, r, pcs[:])
	if said := runtimeSaid.text(); said != "" {
		why = said
	}
	var room [qr.MaxText]byte
	p.code.Encode(appendEssence(room[:0], p.sum, uint64(stack.OriginalIP(r)), r.SP, pcs[:n], why))
	screen.Main.Stamp(p.code, qr.Size)
}
