package multiboot2

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/phys"
	"sonde/boot/handoff"
)

var le = binary.LittleEndian

// at is the address of the boot information in tests.
const at = 0x100

// one is a tag with this type and body.
func one(typ uint32, body []byte) []byte {
	b := le.AppendUint32(le.AppendUint32(nil, typ), uint32(8+len(body)))
	b = append(b, body...)
	return append(b, make([]byte, -len(b)&7)...)
}

// words are the body of a tag.
func words(w ...uint32) (b []byte) {
	for _, v := range w {
		b = le.AppendUint32(b, v)
	}
	return b
}

// mapTag is a map of 640 KiB of RAM at 0 and 127 MiB from 1 MiB on, as GRUB makes it.
func mapTag() []byte {
	b := words(24, 0)
	for _, e := range [][3]uint64{{0, 0x9fc00, 1}, {0x100000, 127 << 20, 1}, {0xfffc0000, 0x40000, 2}} {
		b = le.AppendUint64(le.AppendUint64(b, e[0]), e[1])
		b = append(b, words(uint32(e[2]), 0)...)
	}
	return one(tagMap, b)
}

// build returns a memory with boot information of these tags.
func build(tags ...[]byte) []byte {
	all := slices.Concat(tags...)
	all = append(all, one(tagEnd, nil)...)
	b := make([]byte, at, 0x8000)
	b = append(b, words(uint32(8+len(all)), 0)...)
	return append(b, all...)
}

func parse(t *testing.T, tags ...[]byte) *handoff.Info {
	t.Helper()
	out := new(handoff.Info)
	if c := Parse(phys.Over(build(tags...)), at, out); c != OK {
		t.Fatal(c)
	}
	return out
}

func TestParseReadsTheTags(t *testing.T) {
	memory := build(
		one(tagCmdline, []byte("quiet -- ls\x00")),
		one(2, []byte("GRUB 2.06\x00")), // ignored
		one(tagModule, append(words(0x700000, 0x700063), "initramfs\x00"...)),
		mapTag(),
		one(tagFramebuffer, append(words(0xe0000000, 1, 4096, 1024, 768), 32, 1, 0, 0, 16, 8, 8, 8, 0, 8)),
		one(tagOldRSDP, []byte("RSD PTR old")),
		one(tagEFI64, words(0x7e3f018, 1)),
		one(tagEFI64, words(5)), // truncated
		one(tagNewRSDP, []byte("RSD PTR new")),
		one(tagOldRSDP, []byte("RSD PTR old")),
	)
	i, mem := new(handoff.Info), phys.Over(memory)
	if c := Parse(mem, at, i); c != OK {
		t.Fatal(c)
	}
	if i.EFI != 0x1_07e3f018 {
		t.Errorf("EFI system table at %#x", i.EFI)
	}
	if got := mem.String(i.Cmdline.PA, i.Cmdline.Len); got != "quiet -- ls" {
		t.Errorf("command line %q", got)
	}
	if i.NModules != 1 || i.Modules[0] != (handoff.Span{PA: 0x700000, Len: 99}) || i.Truncated {
		t.Errorf("modules %x", i.Modules)
	}
	if got := mem.String(i.RSDP, 11); got != "RSD PTR new" {
		t.Errorf("RSDP is %q", got)
	}
	want := []handoff.Region{
		{Span: handoff.Span{PA: 0, Len: 0x9f000}, Type: handoff.RAM},
		{Span: handoff.Span{PA: 0x100000, Len: 127 << 20}, Type: handoff.RAM},
		{Span: handoff.Span{PA: 0xfffc0000, Len: 0x40000}, Type: handoff.Reserved},
	}
	if !slices.Equal(i.Map[:i.NMap], want) {
		t.Errorf("map %x, want %x", i.Map[:i.NMap], want)
	}
	screen := handoff.Framebuffer{PA: 0x1e0000000, Pitch: 4096, Width: 1024, Height: 768, Bits: 32, Kind: handoff.Pixels,
		Red: handoff.Field{At: 16, Bits: 8}, Green: handoff.Field{At: 8, Bits: 8}, Blue: handoff.Field{Bits: 8}}
	if i.Framebuffer != screen {
		t.Errorf("framebuffer %+v, want %+v", i.Framebuffer, screen)
	}
}

// TestCommandLineAsModule: its position does not matter, and it is not an archive.
func TestCommandLineAsModule(t *testing.T) {
	module := one(tagModule, append(words(0x5000, 0x5004), "cmdline\x00"...))
	usual := one(tagCmdline, []byte("usual\x00"))
	for _, tags := range [][][]byte{{usual, module, mapTag()}, {mapTag(), module, usual}} {
		i := parse(t, tags...)
		if i.Cmdline != (handoff.Span{PA: 0x5000, Len: 4}) || i.NModules != 0 {
			t.Errorf("command line %x, %d modules", i.Cmdline, i.NModules)
		}
	}
	long := one(tagModule, append(words(0x5000, 0x7000), "cmdline\x00"...))
	if i := parse(t, mapTag(), long); !i.Truncated || i.Cmdline.Len != handoff.MaxCmdline {
		t.Errorf("%+v", i.Cmdline)
	}
}

func TestParseRefuses(t *testing.T) {
	good := func() []byte { return build(mapTag()) }
	word := func(off int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint32(b[at+off:], v); return b }
	}
	for _, c := range []struct {
		name string
		edit func([]byte) []byte
		pa   uint64
		want Code
	}{
		{"outside", func(b []byte) []byte { return b }, 1 << 40, BadAddress},
		{"wrapping", func(b []byte) []byte { return b }, ^uint64(3), BadAddress},
		{"size of nothing", word(0, 8), at, BadSize},
		{"size beyond memory", word(0, 1<<20), at, BadSize},
		{"cut off", func(b []byte) []byte { return b[:len(b)-8] }, at, BadSize},
		{"tag without a head", word(12, 7), at, BadTag},
		{"tag beyond the end", word(12, 1<<31), at, BadTag},
		{"no map", word(8, 77), at, BadMap},
		{"map with small entries", word(16, 16), at, BadMap},
		{"map without a head", word(12, 12), at, BadMap},
	} {
		var out handoff.Info
		if got := Parse(phys.Over(c.edit(good())), c.pa, &out); got != c.want || out.NMap != 0 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	many := one(tagMap, append(words(24, 0), make([]byte, 24*(maxEntries+1))...))
	var out handoff.Info
	if got := Parse(phys.Over(build(many)), at, &out); got != TooManyEntries {
		t.Errorf("endless map: %v", got)
	}
}

func TestWhatDoesNotFitIsMarked(t *testing.T) {
	if i := parse(t, mapTag(), one(tagCmdline, []byte(strings.Repeat("a", handoff.MaxCmdline)))); !i.Truncated || i.Cmdline.Len != handoff.MaxCmdline {
		t.Error("command line")
	}
	module := one(tagModule, append(words(1, 2), 0))
	if i := parse(t, mapTag(), module, module, module, module, module); !i.Truncated || i.NModules != handoff.MaxModules {
		t.Error("modules")
	}
	if i := parse(t, mapTag(), one(tagCmdline, []byte("no end"))); i.Cmdline.Len != 6 {
		t.Error("command line without its NUL ends with its tag")
	}
	if i := parse(t, mapTag(), one(tagModule, append(words(2, 1), 0)), one(tagModule, words(1)), one(tagFramebuffer, words(1, 2))); i.NModules != 0 || i.Framebuffer.Width != 0 {
		t.Errorf("impossible tags: %+v", i)
	}
}

func TestNoAllocation(t *testing.T) {
	mem := phys.Over(build(mapTag(), one(tagCmdline, []byte("quiet\x00"))))
	var out handoff.Info
	if n := testing.AllocsPerRun(100, func() { Parse(mem, at, &out) }); n != 0 {
		t.Fatal(n)
	}
}
