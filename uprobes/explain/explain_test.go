package explain

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"sonde/arch/amd64/prologue"
	"sonde/linux/program"
	"sonde/probe/ledger"
	"sonde/uprobes"
)

var update = flag.Bool("update", false, "write the golden files")

// body is code of a function at 0x401000: a load relative to RIP, a store, RET.
const body = "48 8b 05 f9 0f 00 00 48 89 07 c3"

func made(t *testing.T, off int, change func(*Place)) *Place {
	b, err := hex.DecodeString(strings.ReplaceAll(body, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	p := &Place{
		Title: "/bin/probed:leaf", Path: "/bin/probed", Addr: 0x401000 + uint64(off), Offset: 0x1000 + uint64(off),
		Fn: program.Symbol{Name: "leaf", Addr: 0x401000, Size: uint64(len(b))}, Body: b, Code: b[off:], Returns: []uint64{0x40100a},
		ReturnsBy: "trampoline (it has no .eh_frame)",
		Name: func(addr uint64) (string, uint64) {
			if addr >= 0x402000 && addr < 0x402010 {
				return "counter", 0x402000
			}
			return "", 0
		},
	}
	if change != nil {
		change(p)
	}
	return p
}

func TestDrawings(t *testing.T) {
	for _, c := range []struct {
		name   string
		off    int
		change func(*Place)
	}{
		{"boosted", 0, nil},
		{"emulated", 10, nil},
		{"refused", 7, func(p *Place) { p.Boundary = errors.New("leaf+0x7 is inside an instruction") }},
		{"probed", 7, func(p *Place) {
			p.Title, p.Bias, p.Addr, p.Slot = "probed[12] leaf+0x7", 0x5555_0000_0000, p.Addr+0x5555_0000_0000, 0x5555_0030_0040
			p.Probes = []uprobes.Info{
				{Kind: "u", Pid: 12, Program: "probed", Way: "boosted" + uprobes.InTheTrap, Ledger: ledger.Ledger{Entered: 5}},
				{Kind: "ur", Ledger: ledger.Ledger{Entered: 5}, Disabled: true},
			}
		}},
		{"go", 0, func(p *Place) {
			p.Fn.Go, p.Check = true, prologue.Check{Kind: prologue.Small, Len: 4}
			p.Leaves, p.ReturnsBy = p.Returns, "breakpoints on its returns (1), since it is Go code"
		}},
		{"unknown", 0, func(p *Place) { p.Fn = program.Symbol{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := made(t, c.off, c.change).WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			file := "testdata/" + c.name + ".golden"
			if *update {
				os.MkdirAll("testdata", 0o755)
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || b.String() != string(want) {
				t.Errorf("%v\n%s", err, b.String())
			}
			for line := range strings.Lines(b.String()) {
				if len(line) > 81 {
					t.Errorf("%d columns: %s", len(line), line)
				}
			}
		})
	}
}
