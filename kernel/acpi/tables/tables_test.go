package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var le = binary.LittleEndian

// memory is physical memory with the tables of a real machine, as ../testdata has them:
// address, length and bytes of each piece.
func memory(t testing.TB, name string) []byte {
	t.Helper()
	d, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 32<<20)
	for len(d) > 0 {
		pa, n := le.Uint64(d), le.Uint64(d[8:])
		copy(b[pa:], d[16:16+n])
		d = d[16+n:]
	}
	return b
}

// rootOf is where the RSDP at pa says that the root table is.
func rootOf(mem []byte, pa int) (root uint64, wide bool) {
	if mem[pa+15] >= 2 {
		return le.Uint64(mem[pa+24:]), true
	}
	return uint64(le.Uint32(mem[pa+16:])), false
}

var machines = []struct {
	name string
	rsdp int
}{{"q35", 0xf59e0}, {"microvm", 0xf3490}}

// TestTablesOfMachines: what two machines' tables say, in bytes and in words.
func TestTablesOfMachines(t *testing.T) {
	for _, m := range machines {
		mem := memory(t, m.name+".acpi")
		if m.name == "q35" { // the dump lacks its FACS
			copy(mem[0x1fe0000:], "FACS\x40")
		}
		root, wide := rootOf(mem, m.rsdp)
		all, err := Read(bytes.NewReader(mem), root, wide)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		got.WriteString(strings.Join(Names(all), " ") + "\n\n")
		for _, table := range all {
			if table.Signature == "APIC" {
				table.Dump(&got)
			}
			table.Decode(&got)
		}
		golden := "testdata/" + m.name + ".golden"
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %v: got:\n%s", m.name, err, got.Bytes())
		}
	}
}

// sealed is a table of n bytes, with what edit makes of it, and a good checksum.
func sealed(signature string, n int, edit func(d []byte)) Table {
	d := make([]byte, n)
	copy(d, signature)
	le.PutUint32(d[4:], uint32(n))
	copy(d[10:], "ACME  BOARD   ")
	edit(d)
	sum := byte(0)
	for _, c := range d {
		sum += c
	}
	d[9] -= sum
	return Table{Signature: signature, Addr: 0x1000, Data: d}
}

func decoded(t Table) string {
	var b strings.Builder
	t.Decode(&b)
	return b.String()
}

func TestSPCR(t *testing.T) {
	table := sealed("SPCR", 80, func(d []byte) {
		d[36], d[40], d[41] = 0x12, 0, 32
		le.PutUint64(d[44:], 0xfe03e000)
		d[52], d[53], d[58] = 3, 4, 7
		le.PutUint32(d[54:], 19)
		copy(d[64:], "\x02\x00\x36\x1b\x03\x1f\x02")
	})
	s, err := table.SPCR()
	want := SPCR{Kind: 0x12, Addr: 0xfe03e000, Width: 32, IRQ: 4, GSI: 19, Baud: 115200, PCI: true, Vendor: 0x1b36, Device: 2, Bus: 3, Slot: 31, Func: 2}
	if err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
	}
	const says = "interface: 16550 as the table says\n  registers: memory 0xfe03e000, 32 bits\n  baud: 115200\n" +
		"  interrupt: GSI 19\n  interrupt: ISA 4\n  PCI: 0000:03:1f.2 [1b36:0002]\n"
	if got := decoded(table); !strings.Contains(got, says) {
		t.Error(got)
	}
	table.Data = table.Data[:79]
	table.Data[70]++
	if _, err := table.SPCR(); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
	if got := decoded(table); !strings.Contains(got, "is not an SPCR") || !strings.Contains(got, "checksum is wrong") {
		t.Error(got)
	}
}

// TestMADTEntries: kinds of entries that QEMU's machines do not have, and one that would never end.
func TestMADTEntries(t *testing.T) {
	table := sealed("APIC", 44+16+8+12+2, func(d []byte) {
		e := d[44:]
		copy(e, "\x09\x10\x00\x00\x00\x01\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00")
		copy(e[16:], "\x03\x08\x0f\x00\x09\x00\x00\x00")
		copy(e[24:], "\x05\x0c\x00\x00\x00\x00\xe0\xfe\x01\x00\x00\x00")
	})
	const says = "  processor 7: x2APIC 256, can be plugged in\n  NMI: GSI 9, level, active low\n" +
		"  local APIC: memory 0x1fee00000\n  the entry at 0x50 has a length of 0, which is impossible\n"
	if got := decoded(table); !strings.Contains(got, says) {
		t.Error(got)
	}
}

// TestDamagedTables: whatever is wrong, there is an error, and the rest is read.
func TestDamagedTables(t *testing.T) {
	place := func(mem []byte, at int, t Table) { copy(mem[at:], t.Data) }
	root := func(addrs ...uint32) Table {
		return sealed("RSDT", headSize+4*len(addrs), func(d []byte) {
			for i, a := range addrs {
				le.PutUint32(d[headSize+4*i:], a)
			}
		})
	}
	hpet := sealed("HPET", 56, func([]byte) {})
	for _, c := range []struct {
		name  string
		edit  func(mem []byte)
		names string
		says  string
	}{
		{"good", func([]byte) {}, "RSDT HPET HPET", ""},
		{"outside", func(mem []byte) { le.PutUint32(mem[0x100+headSize:], 1<<30) }, "RSDT HPET", "table at 0x40000000"},
		{"no name", func(mem []byte) { mem[0x200] = 0 }, "RSDT HPET", "table at 0x200: it has no name"},
		{"short", func(mem []byte) { mem[0x204] = 35 }, "RSDT HPET", "HPET has an impossible length of 35 bytes"},
		{"long", func(mem []byte) { mem[0x207] = 1 }, "RSDT HPET", "HPET has an impossible length"},
		{"cut", func(mem []byte) { le.PutUint32(mem[0x204:], 0x2000) }, "RSDT HPET", "HPET at 0x200: EOF"},
		{"root cut", func(mem []byte) { mem[0x104] = headSize + 7 }, "RSDT HPET", ""},
		{"no root", func(mem []byte) { mem[0x100] = 7 }, "", "table at 0x100: it has no name"},
	} {
		mem := make([]byte, 0x1000)
		place(mem, 0x100, root(0x200, 0x300))
		place(mem, 0x200, hpet)
		place(mem, 0x300, hpet)
		c.edit(mem)
		all, err := Read(bytes.NewReader(mem), 0x100, false)
		names := []string{}
		for _, t := range all {
			names = append(names, t.Signature)
		}
		if got := strings.Join(names, " "); got != c.names || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestNamesHaveNumbersOnlyWhereNeeded(t *testing.T) {
	got := strings.Join(Names([]Table{{Signature: "SSDT"}, {Signature: "APIC"}, {Signature: "SSDT"}}), " ")
	if got != "SSDT1 APIC SSDT2" {
		t.Error(got)
	}
}

// TestWildBytesDoNotPanic: every decoder, on tables of every length and any content.
func TestWildBytesDoNotPanic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for signature := range decoders {
		for n := headSize; n < 300; n++ {
			table := sealed(signature, n, func(d []byte) {
				for i := headSize; i < n; i++ {
					d[i] = byte(rnd.Uint32())
				}
			})
			if got := decoded(table); !strings.HasSuffix(got, "\n\n") {
				t.Fatalf("%s of %d bytes: %q", signature, n, got)
			}
			table.ECAM()
			table.SPCR()
			table.fromFADT()
		}
	}
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		mem := memory4K(rnd)
		all, _ := Read(bytes.NewReader(mem), uint64(rnd.IntN(4096)), seed%2 == 0)
		for _, table := range all {
			decoded(table)
		}
	}
}

// memory4K is memory full of small tables that list each other.
func memory4K(rnd *rand.Rand) []byte {
	mem := make([]byte, 4096)
	for at := 0; at < len(mem); at += 64 {
		copy(mem[at:], []string{"RSDT", "FACP", "APIC", "MCFG", "SPCR"}[rnd.IntN(5)])
		le.PutUint32(mem[at+4:], uint32(rnd.IntN(200)))
		for i := 36; i < 64; i += 4 {
			le.PutUint32(mem[at+i:], uint32(rnd.IntN(5000)))
		}
	}
	return mem
}
