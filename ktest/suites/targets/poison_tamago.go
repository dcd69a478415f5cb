//go:build tamago

package targets

import (
	"encoding/binary"
	"slices"

	"sonde/kprobes"
	"sonde/probe/attach"
)

// poison is a handler whose code changes all that it may: what is wrongly taken to be unused makes results differ.
type poison struct{ made int }

func (p *poison) Ready() bool { return true }

func (p *poison) Fuse(at *attach.Fusion) (*attach.Fused, error) {
	p.made++
	code := binary.LittleEndian.AppendUint32([]byte{0x65, 0x48, 0xFF, 0x04, 0x25}, uint32(at.Count)) // INCQ count(GS)
	changes := append(slices.Clone(at.Free), at.Others[:at.Most]...)
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
	return &attach.Fused{Code: code, Changes: changes}, nil
}

// Poisons returns what gives a probe a handler whose code does that.
func Poisons() func(k *kprobes.Kprobe) {
	link := &attach.Link{Handler: func(*attach.Hit) {}, Options: attach.Options{Fuse: &poison{}}}
	return func(k *kprobes.Kprobe) {
		k.Place = &attach.Place{Link: link, Site: &attach.Site{}, Addr: uint64(k.Addr)}
	}
}
