package cfi

import (
	"os"
	"testing"
)

// FuzzParse: whatever .eh_frame holds, there is an answer for each place in it.
func FuzzParse(f *testing.F) {
	f.Add([]byte{}, uint64(0))
	if _, err := os.Stat(libc); err == nil {
		b, addr := section(f, libc)
		f.Add(b[:2000:2000], addr)
	}
	f.Fuzz(func(t *testing.T, b []byte, addr uint64) {
		table, err := Parse(b, addr)
		if err != nil {
			return
		}
		table.Find(addr)
		for i := range table.entries {
			e := &table.entries[i]
			for _, pc := range []uint64{e.Begin, e.End - 1} {
				e.Row(pc)
			}
		}
	})
}
