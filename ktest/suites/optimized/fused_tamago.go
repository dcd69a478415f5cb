//go:build tamago

package optimized

import (
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/probe/attach"
)

func init() {
	suites.Add("optimized/every_boundary_of_every_shape_fused", func(t *suites.T) { everyShape(t, poisons(t)) })
	suites.Add("optimized/every_boundary_of_every_go_function_fused", func(t *suites.T) { everyFunction(t, poisons(t)) })
}

// poison is a handler whose code changes all that it may: what is wrongly taken to be nobody's makes results differ.
type poison struct{ made int }

func (p *poison) Ready() bool { return true }

func (p *poison) Fuse(at *attach.Fusion) (code []byte, changes []uint8, err error) {
	p.made++
	changes = append(append(changes, at.Free...), at.Others[:at.Most]...)
	for _, r := range changes {
		code = append(code, 0x48|r>>3, 0xF7, 0xD0|r&7) // NOTQ r
	}
	r := changes[0]
	switch p.made % 3 { // each flag is set in one way at least, and not in another
	case 0:
		code = append(code, 0x48|r>>3<<2|r>>3, 0x31, 0xC0|r&7<<3|r&7) // XORQ r, r
	case 1:
		code = append(code, 0x48|r>>3, 0x83, 0xC8|r&7, 0xFF) // ORQ $-1, r
	default:
		code = append(code, 0x48|r>>3, 0x83, 0xC8|r&7, 0xFF, 0x48|r>>3, 0xD1, 0xE8|r&7) // and SHRQ $1, r
	}
	return code, changes, nil
}

// poisons makes probes whose detours have such code.
func poisons(t *suites.T) func(uintptr) *kprobes.Kprobe {
	p := &poison{}
	link := &attach.Link{Handler: func(*attach.Hit) {}, Options: attach.Options{Fuse: p}}
	return func(addr uintptr) *kprobes.Kprobe {
		return &kprobes.Kprobe{Addr: addr, PreHandler: pre, Place: &attach.Place{Link: link, Site: &attach.Site{}, Addr: uint64(addr)}}
	}
}
