package optprobe

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"sonde/internal/image"
	"sonde/kallsyms/entries"
	"sonde/kallsyms/pcln"
)

// program is a linked Go program.
type program struct {
	text, rodata []byte
	base, data   uint64 // their addresses
	funcs        []entries.Func
	names        []string
	entries      *entries.Table
}

// kernel returns the kernel, built as for booting except for the tables that the
// build adds; or the program named by SONDE_OPTPROBE_ELF, to try others by hand.
func kernel(t testing.TB) *program {
	t.Helper()
	path := os.Getenv("SONDE_OPTPROBE_ELF")
	if path == "" {
		done, err := image.Build(image.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		path = done + ".raw"
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := &program{}
	p.text, p.base = section(t, f, ".text")
	p.rodata, p.data = section(t, f, ".rodata")
	p.symbols(t, f)
	pclntab, _ := section(t, f, ".gopclntab")
	table, err := pcln.Load(pclntab, nil, p.base)
	if err != nil {
		t.Fatal(err)
	}
	found, err := table.Recovers()
	if err != nil {
		t.Fatal(err)
	}
	blob, err := entries.Encode(append(found, entries.Find(p.text, p.base, p.funcs)...))
	if err != nil {
		t.Fatal(err)
	}
	if p.entries, err = entries.Load(blob); err != nil {
		t.Fatal(err)
	}
	return p
}

func section(t testing.TB, f *elf.File, name string) ([]byte, uint64) {
	t.Helper()
	s := f.Section(name)
	if s == nil {
		t.Fatal("no", name)
	}
	b, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return b, s.Addr
}

// symbols keeps one function per address.
func (p *program) symbols(t testing.TB, f *elf.File) {
	t.Helper()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(syms, func(a, b elf.Symbol) int { return int(int64(a.Value) - int64(b.Value)) })
	for _, s := range syms {
		in := s.Value >= p.base && s.Value < p.base+uint64(len(p.text))
		if !in || s.Size == 0 || elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		if n := len(p.funcs); n == 0 || p.funcs[n-1].Addr != s.Value {
			p.funcs = append(p.funcs, entries.Func{Addr: s.Value, Size: s.Size})
			p.names = append(p.names, s.Name)
		}
	}
}

func (p *program) function(i int) Function {
	fn := p.funcs[i]
	return Function{
		Addr:    fn.Addr,
		Code:    p.text[fn.Addr-p.base : fn.End()-p.base],
		Entries: p.entries.Within(fn.Addr, fn.Size),
		Word:    p.word,
	}
}

func (p *program) word(addr uint64) (uint64, bool) {
	off := addr - p.data
	if off >= uint64(len(p.rodata)) || uint64(len(p.rodata))-off < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(p.rodata[off:]), true
}
