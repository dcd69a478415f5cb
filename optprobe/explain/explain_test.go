package explain

import (
	"encoding/hex"
	"flag"
	"os"
	"strings"
	"testing"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/kprobes/place"
	"sonde/optprobe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	funcAt   = 0xffffffff84100000
	detourAt = 0xffffffff84a00010
	calleeAt = 0xffffffff84100015
)

// way returns the way to the handlers, much shortened: PUSHFQ; PUSHQ R15;
// MOVQ GS:32, R15; XCHGQ R15, SP; some stores; MOVQ $site, DI; loads; CALL (DX); loads;
// MOVQ r.SP, SP.
func way() []byte {
	return bytesOf("9c 4157 654c8b3c2520000000 4c87fc" + strings.Repeat("4889842480010000", 4) +
		"48bf0000000000c00000" + strings.Repeat("488b842480010000", 3) + "ff12" + strings.Repeat("488b842480010000", 3) + "488ba424d0010000")
}

func jump(at, to uint64) []byte {
	b, _ := insn.Jump(at, to)
	return b[:]
}

// cases are functions with a place in each.
var cases = []struct {
	name   string
	code   string
	off    uintptr
	change func(p *Place)
}{
	{"stackcheck", "493b6610 7606 55 4889e5 5d c3 e800100000 ebed", 0, func(p *Place) {
		p.Description.Check, p.Pre, p.Post = 4, place.Decided, place.Stepped
		check := bytesOf("493b6610 0f86f2ff6fff") // CMPQ SP, 16(R14); JBE +0xc
		p.Layout.Code = append(check, way()...)
		p.Layout.Resume, p.Layout.Len = detourAt+uint64(len(p.Layout.Code)), 6
		p.Layout.Code = append(p.Layout.Code, jump(p.Layout.Resume, funcAt+6)...)
	}},
	{"moved", "90 7408 90 488b0510000000 c3", 1, func(p *Place) {
		p.Signed = true
		for range 4 {
			p.Args = append(p.Args, "list []atomic.Pointer[x.T] stack+0x18")
		}
		p.Results = []string{"int AX", "error BX CX"}
	}},
	{"call", "e810000000 c3", 0, func(p *Place) {
		p.Pre, p.Post = place.Emulated, place.Emulated
		p.Signed, p.Args = true, []string{"f *vfs.File AX", "p []uint8 BX CX DI"}
	}},
	{"refused", "4889c3 f4 ffc8 75fc c3", 0, nil},
	{"unprintable", "c5f877 4889c3 c3", 0, nil},
	{"optimized", "4889c7 4889de c3", 0, func(p *Place) {
		p.Probes = []kprobes.ProbeInfo{{Kind: "k", Handlers: []string{"pre-handler sonde/examples.handlerPre"}, Ledger: kprobes.Ledger{Entered: 2}}}
		p.Armed, p.Jumped, p.Description.Detour = true, true, new(detour.Detour)
		p.Live = bytesOf("e90b009000de")
	}},
	{"returns", "493b6610 7606 55 4889e5 5d c3 e800100000 ebed", 0, func(p *Place) {
		p.Description.Check, p.Pre, p.Post = 4, place.Decided, place.Stepped
		p.Probes = []kprobes.ProbeInfo{{Kind: "r", Handlers: []string{"return-handler sonde/examples.handlerRet"}, Ledger: kprobes.Ledger{Entered: 2}}}
		p.Armed, p.Jumped, p.Description.Detour = true, true, &detour.Detour{Begins: detour.Note}
		p.Live = bytesOf("e90b00900000")
		// As in stackcheck; PUSHQ AX; LAHF; SETOS AX; PUSHQ AX; MOVQ GS:0, SI; MOVQ $site, DX; stores; POPQ AX.
		p.Layout.Code = append(bytesOf("493b6610 0f86f2ff6fff"), bytesOf("50 9f 0f90c0 50 65488b342500000000 48ba0000000000c00000"+
			strings.Repeat("48894140", 4)+"58")...)
		p.Layout.Resume, p.Layout.Len = detourAt+uint64(len(p.Layout.Code)), 6
		p.Layout.Code = append(p.Layout.Code, jump(p.Layout.Resume, funcAt+6)...)
	}},
	{"blocked", "4889c7 4889de c3", 0, func(p *Place) {
		p.Probes = []kprobes.ProbeInfo{{Kind: "j", Handlers: []string{"jprobe-handler f"}, Disabled: true}}
		p.NoJump, p.On, p.NoRet = "there is a jprobe here", false, "switches stacks"
		p.Near = []kprobes.Neighbour{{Addr: funcAt + 3}}
	}},
}

func bytesOf(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// made makes the Place of a case, with its detour if there can be one.
func made(code string, off uintptr, change func(p *Place)) *Place {
	p := &Place{
		Description: kprobes.Description{
			Symbol: "sonde/kernel/vfs.F", Func: funcAt, Addr: funcAt + off, Pre: place.Boosted, Post: place.Stepped,
		},
		Fn: optprobe.Function{Addr: funcAt, Code: bytesOf(code)},
		On: true,
		Name: func(addr uint64) (string, uint64) {
			if addr == calleeAt {
				return "sonde/kernel/vfs.callee", calleeAt
			}
			return "", 0
		},
	}
	p.Judge()
	if len(p.Why) == 0 {
		p.Layout = Layout{Entry: detourAt, Code: way(), Len: uint64(p.Size)}
		p.Layout.Resume = detourAt + uint64(len(p.Layout.Code))
		c, _ := optprobe.Relocate(p.region(), uint64(p.Addr), p.Layout.Resume)
		p.Layout.Code = append(p.Layout.Code, c.Bytes()...)
	}
	if change != nil {
		change(p)
	}
	return p
}

func TestDrawings(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if _, err := made(c.code, c.off, c.change).WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if len(line) > listing.Width+1 || strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
					t.Errorf("not plain text of %d columns: %q", listing.Width, line)
				}
			}
			golden := "testdata/" + c.name + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
			}
		})
	}
}

// TestSlidesFit: what a slide shows is a part of the drawing, whatever there is to show.
func TestSlidesFit(t *testing.T) {
	check := func(p *Place) {
		t.Helper()
		var b strings.Builder
		if err := p.Slide(&b); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for _, line := range lines {
			if len(line) > listing.Width {
				t.Errorf("more than %d columns: %q", listing.Width, line)
			}
		}
		if len(lines) > 24 || !strings.Contains(b.String(), "\nTIERS ") || !strings.Contains(b.String(), "\n  before ") {
			t.Errorf("%d lines:\n%s", len(lines), b.String())
		}
	}
	for _, c := range cases {
		check(made(c.code, c.off, c.change))
	}
	// The longest region there can be, and more probes than a slide has lines.
	check(made("9090909048b88877665544332211c3", 0, func(p *Place) {
		p.Symbol = strings.Repeat("long", 25)
		for range 30 {
			p.Probes = append(p.Probes, kprobes.ProbeInfo{Kind: "k"})
		}
		p.Near = []kprobes.Neighbour{{Addr: funcAt + 2}, {Addr: funcAt + 3}, {Addr: funcAt + 4}}
		p.On = false
	}))
}

func TestInsideNamesTheNeighbours(t *testing.T) {
	const code = "4889c7 4889de c3"
	for _, c := range []struct {
		off  uintptr
		want string
	}{
		{0, ""}, {3, ""}, {6, ""},
		{1, "sonde/kernel/vfs.F+0x1 is byte 2 of 3 of the instruction at +0x0, MOVQ AX, DI: try +0x0 or +0x3"},
		{5, "sonde/kernel/vfs.F+0x5 is byte 3 of 3 of the instruction at +0x3, MOVQ BX, SI: try +0x3 or +0x6"},
	} {
		got := ""
		if err := made(code, c.off, nil).Inside(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("+%d: %q, want %q", c.off, got, c.want)
		}
	}
}

func TestEachReasonHasALesson(t *testing.T) {
	for r := optprobe.NoDecode; r < optprobe.NotRegion; r++ {
		if r == optprobe.Outside || r == optprobe.NotStart { // said before
			continue
		}
		if s := lessons[r]; s == "" || len(s) > listing.Width-7 {
			t.Errorf("%v: lesson %q", r, s)
		}
	}
}
