package smbios

import (
	"bytes"
	"testing"
)

// FuzzTables: whatever firmware has left, all that can be asked has an answer.
func FuzzTables(f *testing.F) {
	f.Add([]byte(board), "bios-vendor")
	f.Fuzz(func(t *testing.T, raw []byte, keyword string) {
		tables := &Tables{Major: 3, Raw: raw}
		tables.split()
		tables.Print(new(bytes.Buffer), -1)
		tables.ID()
		tables.Hardware()
		tables.Keyword(keyword)
	})
}

// FuzzAt: an entry point may say anything about where the structures are.
func FuzzAt(f *testing.F) {
	for _, put := range []func([]byte, int, string){old, wide} {
		mem := memory()
		put(mem, 0xf0000, board)
		f.Add(mem[0xf0000:0xf0020:0xf0020], 4)
		f.Add(mem[0xf0000:0xf0020:0xf0020], 5)
	}
	f.Fuzz(func(t *testing.T, entry []byte, at int) {
		if len(entry) > 64 {
			return
		}
		mem := memory()
		copy(mem[0xe0000:], board)
		here := mem[0xf0000 : 0xf0000+0x1f]
		copy(here, entry)
		if at >= 0 && at < len(here) {
			here[at] = 0
			seal(here, at)
		}
		FindBIOS(bytes.NewReader(mem))
		At(bytes.NewReader(mem), 0xf0000)
	})
}
