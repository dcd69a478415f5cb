package smbios

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

// structure is one with its strings, as it is in memory.
func structure(typ uint8, data string, texts ...string) string {
	s := string([]byte{typ, byte(4 + len(data)), typ, 1}) + data
	if len(texts) == 0 {
		return s + "\x00\x00"
	}
	return s + strings.Join(texts, "\x00") + "\x00\x00"
}

const pad = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// board is a table as a small board may have it.
var board = structure(0, "\x01\x02\x00\xf0\x03\x00"+pad[:10]+"\x05\x11", "ACME Firmware", "1.2 ", "04/01/2014") +
	structure(1, "\x01\x02\x00\x03\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff\x06\x00\x02", "ACME", "Anvil", "S/N 5") +
	structure(2, "\x01\x02", "ACME", "A\x7f1") +
	structure(3, "\x01\x83\x02\x00", "ACME", "v3") +
	structure(4, "\x01\x03\x06\x02"+pad[:8]+"\x03\x00"+pad[:2]+"\xb8\x0b\xb0\x04", "Socket 0", "Intel", "Core 9") +
	structure(16, "\x03\x03\x06\x00\x00\x80\x00\xfe\xff\x02\x00") +
	structure(17, pad[:8]+"\x00\x04\x09\x00\x01\x00\x1a\x00\x00\x60\x09", "DIMM 0") +
	structure(17, pad[:8]+"\xff\x7f\x09\x00\x02\x00\x22"+pad[:9]+"\x00\x00\x01\x00", "DIMM 0", "DIMM 1") +
	structure(17, pad[:8]+"\x00\x00") + structure(17, pad[:8]+"\x40\x80") + structure(200, "\x01", "own") + structure(127, "")

// seal makes the sum of b 0, by its byte at.
func seal(b []byte, at int) { b[at] -= sum(b) }

// old and wide put an entry point at addr and the structures at 0xe0000.
func old(mem []byte, addr int, table string) {
	e := mem[addr : addr+0x1f]
	copy(e, "_SM_\x00\x1f\x02\x08\x00\x00\x00\x00\x00\x00\x00\x00_DMI_")
	le.PutUint16(e[22:], uint16(len(table)))
	le.PutUint32(e[24:], 0xe0000)
	seal(e, 4)
	copy(mem[0xe0000:], table)
}

func wide(mem []byte, addr int, table string) {
	e := mem[addr : addr+0x18]
	copy(e, "_SM3_\x00\x18\x03\x02\x00\x01\x00")
	le.PutUint32(e[12:], uint32(len(table)))
	le.PutUint64(e[16:], 0xe0000)
	seal(e, 5)
	copy(mem[0xe0000:], table)
}

func memory() []byte { return make([]byte, 1<<20) }

func TestNamesOfABoard(t *testing.T) {
	for name, place := range map[string]func([]byte, int, string){"old": old, "wide": wide} {
		mem := memory()
		place(mem, 0xf5430, board)
		tables, err := FindBIOS(bytes.NewReader(mem))
		if err != nil {
			t.Fatal(name, err)
		}
		if got := tables.Hardware(); got != `ACME Anvil/A\x7f1, BIOS 1.2 04/01/2014` {
			t.Errorf("%s: %q", name, got)
		}
		id := tables.ID()
		for file, want := range map[string]string{"bios_release": "5.17", "bios_version": "1.2", "product_serial": "S/N 5", "chassis_type": "3", "product_family": "Anvil",
			"product_uuid": "33221100-5544-7766-8899-aabbccddeeff"} {
			if id[file] != want {
				t.Errorf("%s: %s is %q, want %q", name, file, id[file], want)
			}
		}
		for _, file := range []string{"product_version", "board_serial", "product_sku"} {
			if v, ok := id[file]; ok {
				t.Errorf("%s: %s is %q, want none", name, file, v)
			}
		}
		if v, known := tables.Keyword("system-family"); v != "Anvil" || !known {
			t.Error(v, known)
		}
	}
}

func TestPrint(t *testing.T) {
	mem := memory()
	wide(mem, 0xf0000, board)
	tables, err := FindBIOS(bytes.NewReader(mem))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	tables.Print(&b, -1)
	for _, want := range []string{
		"SMBIOS 3.2 present.\n12 structures occupying",
		"Handle 0x0100, DMI type 0, 22 bytes\nBIOS Information\n\tVendor: ACME Firmware\n\tVersion: 1.2\n\tRelease Date: 04/01/2014\n\tBIOS Revision: 5.17\n\n",
		"\tVersion: Not Specified\n\tSerial Number: S/N 5\n\tUUID: 33221100-",
		"\tType: Desktop\n\tVersion: v3\n",
		"\tMax Speed: 3000 MHz\n\tCurrent Speed: 1200 MHz\n\n",
		"\tMaximum Capacity: 8 GB\n\tNumber Of Devices: 2\n",
		"\tSize: 1 GB\n\tLocator: DIMM 0\n\tBank Locator: Not Specified\n\tType: DDR4\n\tSpeed: 2400 MT/s\n\n",
		"\tSize: 64 GB\n\tLocator: DIMM 1\n", "\tSize: No Module Installed\n\n", "\tSize: 64 kB\n\n",
		"DMI type 200, 5 bytes\nStructure of type 200\n\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if tables.Print(&b, 3); strings.Count(b.String(), "Handle") != 1 {
		t.Error(b.String())
	}
}

func TestEFI(t *testing.T) {
	mem := memory()
	const system, list = 0x1000, 0x2000
	wide(mem, 0x3008, board) // no multiple of 16
	copy(mem[system:], "IBI SYST")
	le.PutUint64(mem[system+104:], 2)
	le.PutUint64(mem[system+112:], list)
	copy(mem[list:], guid2+"\x00\x00\x0f\x00\x00\x00\x00\x00"+guid3+"\x08\x30\x00\x00\x00\x00\x00\x00")
	tables, err := FindEFI(bytes.NewReader(mem), system)
	if err != nil || tables.ID()["product_name"] != "Anvil" {
		t.Error(tables, err)
	}
	mem[list+24]++
	if _, err := FindEFI(bytes.NewReader(mem), system); !errors.Is(err, syscall.EIO) { // the other is none
		t.Error(err)
	}
	mem[list]++
	if _, err := FindEFI(bytes.NewReader(mem), system); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
	if _, err := FindEFI(bytes.NewReader(mem), system+1); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	le.PutUint64(mem[system+112:], 1<<63)
	if _, err := FindEFI(bytes.NewReader(mem), system); err == nil {
		t.Error("a list nowhere is read")
	}
}

func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(mem []byte)
		want error
	}{
		{"none", func(mem []byte) { clear(mem) }, syscall.ENOENT},
		{"sum", func(mem []byte) { mem[0xf0000+8]++ }, syscall.ENOENT},
		{"length", func(mem []byte) { mem[0xf0000+6] = 0; seal(mem[0xf0000:0xf0000+0x18], 5) }, syscall.ENOENT},
		{"too long", func(mem []byte) { mem[0xf0000+15] = 1; seal(mem[0xf0000:0xf0000+0x18], 5) }, syscall.ENOENT},
	} {
		mem := memory()
		wide(mem, 0xf0000, board)
		c.edit(mem)
		if _, err := FindBIOS(bytes.NewReader(mem)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	mem := memory()
	wide(mem, 0xf0000, board)
	le.PutUint64(mem[0xf0000+16:], 1<<20-4)
	seal(mem[0xf0000:0xf0000+0x18], 5)
	if _, err := FindBIOS(bytes.NewReader(mem)); err == nil {
		t.Error("structures beyond memory are read")
	}
	// Cut anywhere, what is whole is there.
	for n := range len(board) {
		tables := &Tables{Major: 3, Raw: []byte(board)[:n]}
		tables.split()
		tables.Print(&strings.Builder{}, -1)
		tables.Hardware()
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		raw := []byte(board)
		for range 1 + rnd.IntN(20) {
			raw[rnd.IntN(len(raw))] = byte(rnd.IntN(256))
		}
		tables := &Tables{Major: 3, Raw: raw}
		tables.split()
		tables.Print(&strings.Builder{}, -1)
		tables.Hardware()
	}
	var nobody *Tables
	if nobody.Hardware() != "" || len(nobody.ID()) != 0 {
		t.Error("tables that are not there say something")
	}
}
