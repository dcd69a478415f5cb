package kallsyms

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestLookupFindsTheSymbolAnAddressLiesIn(t *testing.T) {
	table := mustLoad(t, sample())
	for _, c := range []struct {
		addr      uint64
		name      string
		off, size uint64
	}{
		{0xfff, "", 0, 0},
		{0x1000, "runtime.memmove", 0, 0x34},
		{0x1033, "runtime.memmove", 0x33, 0x34},
		{0x1034, "", 0, 0}, // padding
		{0x1041, "sonde/kernel/vfs.(*File).Read", 1, 0x80},
		{0x1141, "entry_stub", 1, 0x40}, // unsized: up to the next symbol
		{0x119f, "sonde/kernel/mm.Map[go.shape.int]", 0x1f, 0x20},
		{0x11a0, "runtime.etext", 0, 0}, // end marker covers nothing
		{0x11a1, "", 0, 0},
		{0x3007, "sonde/kernel.ticks", 7, 8},
		{0x3024, "", 0, 0},
		{1 << 63, "", 0, 0},
	} {
		name, off, size, ok := table.Lookup(c.addr)
		if name != c.name || off != c.off || size != c.size || ok != (c.name != "") {
			t.Errorf("Lookup(%#x) = %q, %#x, %#x, %v; want %q, %#x, %#x", c.addr, name, off, size, ok, c.name, c.off, c.size)
		}
		sym, ok := table.At(c.addr)
		if sym.Name != c.name && ok || ok != (c.name != "") {
			t.Errorf("At(%#x) = %v, %v; want %q", c.addr, sym, ok, c.name)
		}
	}
}

func TestWhere(t *testing.T) {
	SetKernel(mustLoad(t, sample()))
	defer SetKernel(nil)
	for addr, want := range map[uint64]string{0x1052: "sonde/kernel/vfs.(*File).Read+0x12", 0x1000: "runtime.memmove+0x0", 0xdeadbeef: "0xdeadbeef"} {
		if got := Where(addr); got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}

func TestSymbolizeFormatsAndNeverGrows(t *testing.T) {
	table := mustLoad(t, sample())
	SetKernel(table)
	defer SetKernel(nil)
	for _, c := range []struct {
		room int
		addr uint64
		want string
	}{
		{64, 0x1052, "sonde/kernel/vfs.(*File).Read+0x12/0x80"},
		{64, 0x1000, "runtime.memmove+0x0/0x34"},
		{64, 0xdeadbeef, "0xdeadbeef"},
		{64, 0, "0x0"},
		{64, 1<<64 - 1, "0xffffffffffffffff"},
		{9, 0x1052, "sonde/ker"},
		{0, 0x1052, ""},
	} {
		buf := make([]byte, 0, c.room)
		if got := string(Symbolize(buf, c.addr)); got != c.want {
			t.Errorf("Symbolize(%#x) into %d bytes = %q, want %q", c.addr, c.room, got, c.want)
		}
	}
	SetKernel(nil)
	if got := string(Symbolize(make([]byte, 0, 32), 0x1000)); got != "0x1000" {
		t.Errorf("Symbolize without a table = %q", got)
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	SetKernel(mustLoad(t, sample()))
	defer SetKernel(nil)
	buf := make([]byte, 0, 128)
	n := testing.AllocsPerRun(100, func() {
		for addr := uint64(0xff0); addr < 0x3040; addr += 0x11 {
			Lookup(addr)
			Kernel().At(addr)
			Symbolize(buf, addr)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWriteToPrintsLinuxFormat(t *testing.T) {
	var out bytes.Buffer
	table := mustLoad(t, sample())
	n, err := table.WriteTo(&out)
	if err != nil || n != int64(out.Len()) {
		t.Fatal(n, out.Len(), err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != len(sample())+1 || lines[1] != "0000000000001000 T runtime.memmove" {
		t.Errorf("%d lines, second %q", len(lines), lines[1])
	}
}

func TestEmptyTable(t *testing.T) {
	table := mustLoad(t, nil)
	if _, _, _, ok := table.Lookup(1); ok {
		t.Error("found something")
	}
	if _, err := table.Resolve("x"); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
	if _, err := Resolve("x"); !errors.Is(err, ErrNoTable) {
		t.Error(err)
	}
}

// TestLoadSurvivesGarbage damages a good blob in many ways: Load must refuse
// it or return a table that can be read in full.
func TestLoadSurvivesGarbage(t *testing.T) {
	good := Encode(sample())
	for n := range good {
		if _, err := Load(good[:n]); !errors.Is(err, ErrFormat) || !errors.Is(err, syscall.EINVAL) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		bad := slices.Clone(good)
		for range 1 + rnd.IntN(4) {
			switch i := rnd.IntN(len(bad)); rnd.IntN(3) {
			case 0:
				bad[i] = byte(rnd.Uint32())
			case 1:
				bad[i] ^= 1 << rnd.IntN(8)
			default:
				i = len(magic) + 4*rnd.IntN(6)
				binary.LittleEndian.PutUint32(bad[i:], rnd.Uint32()>>rnd.IntN(32))
			}
		}
		exercise(bad)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(Encode(sample()))
	f.Add(Encode(nil))
	f.Fuzz(func(t *testing.T, blob []byte) { exercise(blob) })
}

// exercise reads everything that Load lets through.
func exercise(blob []byte) {
	table, err := Load(blob)
	if err != nil {
		return
	}
	buf := make([]byte, 0, 64)
	for s := range table.Named("") {
		table.Symbolize(buf, s.Addr)
		table.Addr(s.Name)
	}
	table.Resolve("vfs.Raed")
	table.Complete("vfs.", 5)
}

// TestRoundTripOfALinkedBinary checks every symbol of a real Go binary.
func TestRoundTripOfALinkedBinary(t *testing.T) {
	syms := linkedSymbols(t)
	table := mustLoad(t, syms)
	if table.Len() != len(syms) || len(syms) < 2000 {
		t.Fatalf("%d symbols became %d", len(syms), table.Len())
	}
	byAddr := map[uint64][]string{}
	for _, s := range syms {
		byAddr[s.Addr] = append(byAddr[s.Addr], Cut(s.Name))
	}
	for _, s := range syms {
		name, off, _, ok := table.Lookup(s.Addr)
		if !ok || off != 0 || !slices.Contains(byAddr[s.Addr], name) {
			t.Errorf("Lookup(%#x) = %q+%#x, want %q", s.Addr, name, off, s.Name)
		}
		got, err := table.Addr(s.Name)
		if err == nil && got.Addr != s.Addr || err != nil && !errors.Is(err, ErrAmbiguous) {
			t.Errorf("Addr(%q) = %#x, %v; want %#x", s.Name, got.Addr, err, s.Addr)
		}
	}
	sym, err := table.Resolve("kallsyms.(*Table).Lookup")
	if err != nil || sym.Name != "sonde/kallsyms.(*Table).Lookup" || !sym.IsText() {
		t.Errorf("Resolve: %v, %v", sym, err)
	}
}

func TestTextYieldsOnlyCodeInOrder(t *testing.T) {
	last := uint64(0)
	mustLoad(t, sample()).Text(func(s Symbol) bool {
		if !s.IsText() || s.Addr < last {
			t.Errorf("%v after %#x", s, last)
		}
		last = s.Addr
		return true
	})
}

func BenchmarkLookup(b *testing.B) {
	table := mustLoad(b, linkedSymbols(b))
	span := table.addr(table.n-1) - table.addr(0)
	for i := 0; b.Loop(); i++ {
		table.Lookup(table.addr(0) + uint64(i)*0x9e3779b9%span)
	}
}

func BenchmarkResolveSuffix(b *testing.B) {
	table := mustLoad(b, linkedSymbols(b))
	for b.Loop() {
		table.Resolve("kallsyms.(*Table).Lookup")
	}
}

func BenchmarkResolveUnknown(b *testing.B) {
	table := mustLoad(b, linkedSymbols(b))
	for b.Loop() {
		table.Resolve("kallsyms.(*Table).Lokup")
	}
}
