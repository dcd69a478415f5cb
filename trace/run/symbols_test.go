package run

import "testing"

func TestShown(t *testing.T) {
	for name, want := range map[string]string{
		"runtime.mallocgc":                                "runtime.mallocgc",
		"sonde/kernel/vfs.(*File).Read":                   "vfs.(*File).Read",
		"sonde/probe/ledger.(*Table[go.shape.int]).Find":  "ledger.(*Table[...]).Find",
		"slices.Sort[go.shape.[]uint8,sonde/a.b[int]]":    "slices.Sort[...]",
		"a/b.f.c[go.shape.*uint8].d[[]go.shape.x]-range1": "b.f.c[...].d[...]-range1",
		"a/b.f[go.shape.struct { X [2]int }].func1":       "b.f[...].func1",
	} {
		if got := shown(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
