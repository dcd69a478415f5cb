// Package multiboot2 reads the list of tags that a Multiboot2 loader (GRUB) leaves in EBX into a
// handoff.Info.
//
// GRUB puts quotes around arguments and escapes existing ones. So if there is a module named
// "cmdline", its contents are the command line, unchanged, instead of the usual one.
//
// It runs before the Go runtime does and allocates nothing.
//
// Source: Multiboot2 Specification 2.0, "Boot information format".
package multiboot2

import (
	"sonde/arch/amd64/phys"
	"sonde/boot/handoff"
)

// Magic is what the loader leaves in EAX.
const Magic = 0x36d76289

// The tags that are read.
const (
	tagEnd         = 0
	tagCmdline     = 1
	tagModule      = 3
	tagMap         = 6
	tagFramebuffer = 8
	tagEFI64       = 12
	tagOldRSDP     = 14 // holds a copy of ACPI 1.0's RSDP
	tagNewRSDP     = 15
)

const (
	maxInfo    = 16 << 20 // bytes of all tags; a larger value is taken for damage
	maxEntries = 512      // of the loader's map, before merging
	headSize   = 8        // of the information and of each tag: two words
	entrySize  = 24       // of the map: base, length uint64; type, reserved uint32
)

// Code says how Parse ended, in words.
type Code string

const (
	OK             Code = ""
	BadAddress     Code = "boot information is outside memory"
	BadSize        Code = "boot information has an impossible size"
	BadTag         Code = "a tag of the boot information is longer than the rest of it"
	BadMap         Code = "no memory map, or one with entries of an unknown size"
	TooManyEntries Code = "memory map has too many entries"
)

// tag is a tag of the list: the bytes [at, at+size), its header included.
type tag struct {
	mem      phys.Mem
	at, size uint64
}

// Parse reads the boot information at pa into out.
//
// Errors: see Code; out then has what was read before.
func Parse(mem phys.Mem, pa uint64, out *handoff.Info) Code {
	*out = handoff.Info{}
	if !mem.Has(pa, headSize) {
		return BadAddress
	}
	size := uint64(mem.Read32(pa))
	if size < 2*headSize || size > maxInfo || !mem.Has(pa, size) {
		return BadSize
	}
	result := BadMap // unless a tag has one
	for at, end := pa+headSize, pa+size; end-at >= headSize; {
		t := tag{mem, at, uint64(mem.Read32(at + 4))}
		if t.size < headSize || t.size > end-at {
			return BadTag
		}
		switch mem.Read32(at) {
		case tagEnd:
			return result
		case tagMap:
			if result = t.readMap(out); result != OK {
				return result
			}
		default:
			t.read(out)
		}
		if at += (t.size + 7) &^ 7; at > end {
			return result
		}
	}
	return result
}

// read reads a tag that is not required.
func (t tag) read(out *handoff.Info) {
	m := t.mem
	switch body := t.at + headSize; m.Read32(t.at) {
	case tagCmdline:
		if out.Cmdline.PA == 0 { // no module has replaced it
			out.Cmdline = t.text(body)
			out.Truncated = out.Truncated || out.Cmdline.Len == handoff.MaxCmdline
		}
	case tagModule:
		if start, end := uint64(m.Read32(body)), uint64(m.Read32(body+4)); t.size >= 16 && start <= end {
			t.addModule(handoff.Span{PA: start, Len: end - start}, out)
		}
	case tagEFI64:
		if t.size >= 16 {
			out.EFI = m.Read64(body)
		}
	case tagOldRSDP:
		if out.RSDP == 0 { // the new RSDP has more fields
			out.RSDP = body
		}
	case tagNewRSDP:
		out.RSDP = body
	case tagFramebuffer:
		if t.size >= 32 {
			t.readFramebuffer(out)
		}
	}
}

// addModule adds a module, whose name may say what it is for.
func (t tag) addModule(module handoff.Span, out *handoff.Info) {
	if name := t.text(t.at + 16); t.mem.String(name.PA, name.Len) != "cmdline" {
		out.AddModule(module)
		return
	}
	out.Truncated = out.Truncated || module.Len > handoff.MaxCmdline
	out.Cmdline = handoff.Span{PA: module.PA, Len: min(module.Len, handoff.MaxCmdline)}
}

// text is the NUL-terminated string at pa.
func (t tag) text(pa uint64) handoff.Span {
	n := uint64(0)
	for n < handoff.MaxCmdline && pa+n < t.at+t.size && t.mem.Read8(pa+n) != 0 {
		n++
	}
	return handoff.Span{PA: pa, Len: n}
}

func (t tag) readMap(out *handoff.Info) Code {
	const head = 16 // size of an entry and version after the tag's own
	if t.size < head || t.mem.Read32(t.at+8) != entrySize {
		return BadMap
	}
	n := (t.size - head) / entrySize
	if n > maxEntries {
		return TooManyEntries // an unread entry may reserve what another calls RAM
	}
	out.SetMap(n, func(i uint64) handoff.Region {
		e := t.at + head + i*entrySize
		return handoff.Region{
			Span: handoff.Span{PA: t.mem.Read64(e), Len: t.mem.Read64(e + 8)},
			Type: handoff.Type(t.mem.Read32(e + 16)),
		}
	})
	return OK
}

func (t tag) readFramebuffer(out *handoff.Info) {
	m := t.mem
	f := handoff.Framebuffer{
		PA: m.Read64(t.at + 8), Pitch: m.Read32(t.at + 16),
		Width: m.Read32(t.at + 20), Height: m.Read32(t.at + 24),
		Bits: m.Read8(t.at + 28), Kind: handoff.Picture(m.Read8(t.at + 29)),
	}
	if f.Kind == handoff.Pixels && t.size >= 38 {
		field := func(at uint64) handoff.Field { return handoff.Field{At: m.Read8(at), Bits: m.Read8(at + 1)} }
		f.Red, f.Green, f.Blue = field(t.at+32), field(t.at+34), field(t.at+36)
	}
	out.Framebuffer = f
}
