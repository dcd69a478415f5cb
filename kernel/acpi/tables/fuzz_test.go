package tables

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzDecode: a table whose sum is right may hold anything after its head.
func FuzzDecode(f *testing.F) {
	for signature := range decoders {
		f.Add(signature, bytes.Repeat([]byte{0, 8, 1, 0}, 40))
	}
	f.Fuzz(func(t *testing.T, signature string, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		table := sealed(signature, headSize+len(body), func(d []byte) { copy(d[headSize:], body) })
		if got := decoded(table); !strings.HasSuffix(got, "\n\n") {
			t.Errorf("%q", got)
		}
		table.ECAM()
		table.SPCR()
		table.fromFADT()
		table.Dump(new(bytes.Buffer))
	})
}

// FuzzRead: memory may hold anything where the root is said to be.
func FuzzRead(f *testing.F) {
	f.Add(memory4K(rand.New(rand.NewPCG(1, 3))), uint64(64), true)
	f.Fuzz(func(t *testing.T, mem []byte, root uint64, wide bool) {
		all, _ := Read(bytes.NewReader(mem), root, wide)
		Names(all)
		for _, table := range all {
			decoded(table)
		}
	})
}
