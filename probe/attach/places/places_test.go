package places

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/internal/image"
	"sonde/kallsyms/pcln"
	"sonde/probe/attach"
)

var linked = sync.OnceValues(func() (*Image, error) {
	path, err := image.Build(image.BuildOptions{Test: true})
	if err != nil {
		return nil, err
	}
	info, err := image.Inspect(path)
	if err != nil {
		return nil, err
	}
	f, err := elf.Open(path + ".raw")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	read := func(name string) func(addr, n uint64) []byte {
		s := f.Section(name)
		data, _ := s.Data()
		return func(addr, n uint64) []byte {
			if off := addr - s.Addr; off <= uint64(len(data)) && n <= uint64(len(data))-off {
				return data[off : off+n]
			}
			return nil
		}
	}
	im := &Image{Symbols: info.Symbols, Code: read(".text")}
	data := read(".rodata")
	im.Word = func(addr uint64) (uint64, bool) {
		if b := data(addr, 8); b != nil {
			return binary.LittleEndian.Uint64(b), true
		}
		return 0, false
	}
	var at [4]uint64
	for i, name := range []string{"runtime.pclntab", "go:func.*", "runtime.epclntab", "runtime.text"} {
		s, err := info.Symbols.Addr(name)
		if err != nil {
			return nil, err
		}
		at[i] = s.Addr
	}
	lines := read(".gopclntab")
	im.Lines, err = pcln.Load(lines(at[0], at[1]-at[0]), lines(at[1], at[2]-at[1]), at[3])
	return im, err
})

func kernel(t *testing.T) *Image {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the test image")
	}
	im, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestEveryLineIsFound: each line of the image that has code has a spot in each of its parts, where an
// instruction of that part begins. Parts that nothing leads to are few.
func TestEveryLineIsFound(t *testing.T) {
	im := kernel(t)
	parts, dead, spots := 0, 0, 0
	for file := range im.Lines.Files {
		if !slices.Contains([]string{"sonde/kernel/vfs/io.go", "sonde/probe/attach/parse.go", "fmt/print.go", "runtime/malloc.go"}, file) {
			continue
		}
		for _, line := range im.Lines.Lines(file) {
			for _, p := range im.Lines.Line(file, line) {
				found := im.Enter(p)
				parts++
				if len(found) == 0 {
					dead++
				}
				for _, addr := range found {
					spots++
					code := im.Code(p.Func.Addr, p.Func.End-p.Func.Addr)
					at, err := insn.Walk(code, func(off int, _ insn.Inst) bool { return off < int(addr-p.Func.Addr) })
					if err != nil || at != int(addr-p.Func.Addr) {
						t.Errorf("%s:%d: %s+%#x is not the beginning of an instruction: %v", file, line, p.Func.Name(), addr-p.Func.Addr, err)
					}
					if !slices.ContainsFunc(p.Spans, func(s pcln.Span) bool { return s.Begin <= addr && addr < s.End }) {
						t.Errorf("%s:%d: %#x is of another line", file, line, addr)
					}
				}
			}
		}
	}
	t.Logf("%d parts, %d spots, %d parts that nothing leads to", parts, spots, dead)
	if parts < 1000 || dead*100 > parts || spots > 2*parts {
		t.Error("too few parts, or too many spots, or dead ones")
	}
}

// TestCopiesAreEntered: a copy has one spot, with few exceptions, and all have one.
func TestCopiesAreEntered(t *testing.T) {
	im := kernel(t)
	for _, name := range []string{"sync.(*Mutex).Lock", "sync/atomic.(*Int64).Add", "sonde/kernel/refusal.New"} {
		found, err := im.Find(attach.Site{Kind: attach.Inline, Symbol: name})
		if name == "sonde/kernel/refusal.New" {
			if !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "nowhere inlined") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		entered, extra := map[int]bool{}, 0
		for _, s := range found.Spots {
			if entered[s.Part] {
				extra++
			}
			entered[s.Part] = true
		}
		delete(entered, -1)
		t.Logf("%s: %s, %d further spots", name, found.Summary(func(*Spot) bool { return true }), extra)
		if found.Parts < 50 || len(entered) < found.Parts*99/100 || extra*5 > found.Parts {
			t.Errorf("%s: %d of %d copies are entered, and have %d further spots", name, len(entered), found.Parts, extra)
		}
	}
}

func TestLinesOfTheKernel(t *testing.T) {
	im := kernel(t)
	read, err := im.Symbols.Resolve("vfs.Read")
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := im.Lines.At(read.Addr)
	var first pcln.Span
	for s := range fn.Spans {
		first = s
		break
	}
	found, err := im.Find(attach.Site{Kind: attach.Line, File: "kernel/vfs/io.go", Line: first.Line})
	if err != nil || len(found.Spots) != 1 || found.Spots[0].Addr != read.Addr || found.Parts != 1 {
		t.Errorf("the line of vfs.Read is at %+v, %v; want its entry, %#x", found, err, read.Addr)
	}
}

func TestRefusals(t *testing.T) {
	im := kernel(t)
	for text, want := range map[string]string{
		"kernel/vfs/io.go:1":        "line 1 of sonde/kernel/vfs/io.go has no code; the first line that has some is ",
		"kernel/vfs/io.go:99999":    "line 99999 of sonde/kernel/vfs/io.go has no code; the last line that has some is ",
		"kernel/vfs/io.go:18":       "has no code",
		"io.go:20":                  "io.go is 4 files: internal/saferio/io.go, io/io.go, sonde/kernel/vfs/io.go, sonde/linux/syscall/io.go; give more of the path",
		"vfs/oi.go:20":              "(did you mean sonde/kernel/vfs/io.go?)",
		"nix/io.go:20":              "did you mean",
		"nix.go:20":                 "no source file of the kernel is called nix.go",
		"inline:vfs.Read":           "vfs.Read is nowhere inlined; give it without inline:",
		"inline:sync.(*Mutex).Lokc": "no function sync.(*Mutex).Lokc is inlined anywhere (did you mean sync.(*Mutex).Lock",
		"nix.*":                     "no function matches nix.*",
		"w@printk.consoleLevel":     "is a watchpoint, not a place in the kernel",
	} {
		site, err := attach.ParseSite(text)
		if err != nil {
			t.Fatal(err)
		}
		found, err := im.Find(site)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", text, found, err, want)
		}
		if !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v has no errno", text, err)
		}
	}
}
