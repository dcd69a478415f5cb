//go:build tamago

package uprobes

import (
	"encoding/binary"

	"sonde/ktest/suites"
	"sonde/probe/attach"
	"sonde/uprobes"
)

// fuses is whether the probes of the present case have handlers that are compiled into their breakpoints.
var fuses bool

// fused adds a case with such handlers.
func fused(name string, f func(t *suites.T)) {
	suites.Add(name+"_fused", func(t *suites.T) {
		inTrap, fuses = true, true
		defer func() { inTrap, fuses = false, false }()
		f(t)
	})
}

// fusable lets the handler of u be compiled, if the case is for that. Compiled, it only counts.
func fusable(u *uprobes.Uprobe) *uprobes.Uprobe {
	if fuses {
		f := u.Handler
		l := &attach.Link{Handler: func(h *attach.Hit) { f(nil, h.Regs) }, Options: attach.Options{Fuse: spoils{}}}
		u.Place = &attach.Place{Link: l}
	}
	return u
}

// spoils is a handler that changes all registers that it may, and the flags.
type spoils struct{}

func (spoils) Ready() bool { return true }

func (spoils) Fuse(at *attach.Fusion) (*attach.Fused, error) {
	changes := append(append([]uint8{}, at.Free...), at.Others[:at.Most]...)
	code := []byte{0x65, 0x48, 0xFF, 0x04, 0x25} // INCQ count(GS)
	code = binary.LittleEndian.AppendUint32(code, uint32(at.Count))
	for _, r := range changes {
		code = append(code, 0x48|r>>3<<2|r>>3, 0x31, 0xC0|r&7<<3|r&7, 0x48|r>>3, 0xFF, 0xC8|r&7) // XORQ r, r; DECQ r
	}
	return &attach.Fused{Code: code, Changes: changes}, nil
}
