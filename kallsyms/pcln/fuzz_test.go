package pcln

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// tiny is a pclntab of one function of 16 bytes at 0x1000, main.f: 8 bytes of line 3, and 8 of line 7,
// which are a copy of main.g.
func tiny() (tab, data []byte) {
	tab = make([]byte, headerSize)
	binary.LittleEndian.PutUint32(tab, magic120)
	tab[6], tab[7] = 1, 8
	part := func(word int, content []byte) {
		binary.LittleEndian.PutUint64(tab[32+8*word:], uint64(len(tab)))
		tab = append(tab, content...)
	}
	words := func(all ...uint32) (b []byte) {
		for _, w := range all {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	binary.LittleEndian.PutUint64(tab[8:], 1)
	binary.LittleEndian.PutUint64(tab[16:], 2)
	part(0, []byte("main.f\x00main.g\x00"))
	part(1, words(5, 0))
	part(2, []byte("g.go\x00f.go\x00"))
	steps := []byte{0, 2, 8, 2, 8, 0, 8, 8, 8, 8, 0, 0, 8, 2, 8, 0}
	part(3, steps)
	record := words(0, 0, 0, 0, 0, 1, 6, 3, 0, 1, 4<<24, 0, 0, 11, none, none, none, 0)
	part(4, append(words(0, 12, 16), record...))
	return tab, words(0, 7, 0, 20)
}

func TestTinyTable(t *testing.T) {
	tab, data := tiny()
	table, err := Load(tab, data, 0x1000)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := table.At(0x100f)
	if !ok || f.Name() != "main.f" || f.End != 0x1010 {
		t.Errorf("at 0x100f is %s, to %#x", f.Name(), f.End)
	}
	if _, ok := table.At(0x1010); ok {
		t.Error("there is a function behind the last")
	}
	if files := slices.Collect(table.Files); !slices.Equal(files, []string{"g.go", "f.go"}) {
		t.Error(files)
	}
	if lines := table.Lines("f.go"); !slices.Equal(lines, []int{3}) {
		t.Error(lines)
	}
	if p := table.Line("f.go", 3); len(p) != 1 || p[0].Copy != -1 || len(p[0].Spans) != 2 {
		t.Errorf("a line has %+v, want its own code and that of the copy it calls", p)
	}
	if p := table.Line("g.go", 7); len(p) != 1 || p[0].Copy != 0 || p[0].Spans[0].Begin != 0x1008 {
		t.Errorf("%+v", p)
	}
	if all := table.Between("f.go", 1, 9); len(all) != 1 || len(all[3]) != 1 {
		t.Errorf("%v", all)
	}
	if file, first, last := f.Extent(); file != "f.go" || first != 3 || last != 3 {
		t.Errorf("the function is in %s, %d to %d", file, first, last)
	}
	if all := slices.Collect(table.Inlined); !slices.Equal(all, []string{"main.g"}) {
		t.Error(all)
	}
	p := table.Copies(func(name string) bool { return name == "main.g" })
	if len(p) != 1 || len(p[0].Spans) != 1 || p[0].Spans[0].Begin != 0x1008 {
		t.Fatalf("%+v", p)
	}
	if name, site := p[0].Func.Copy(0); name != "main.g" || site != 0x1000 {
		t.Errorf("%s, called at %#x", name, site)
	}
}

func TestRefused(t *testing.T) {
	good, data := tiny()
	for i := range len(good) {
		if _, err := Load(good[:i], data, 0); i < headerSize && !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", i, err)
		}
	}
	for _, off := range []int{0, 6, 7, 8 + 7, 64 + 7} {
		bad := slices.Clone(good)
		bad[off] += 3
		if _, err := Load(bad, data, 0); !errors.Is(err, ErrFormat) {
			t.Errorf("byte %d changed: %v", off, err)
		}
	}
}

// TestRecordsThatAreNotThere: what a function's record would say is not made up.
func TestRecordsThatAreNotThere(t *testing.T) {
	tab, data := tiny()
	short := tab[:len(tab)-40]
	table, err := Load(short, data, 0x1000)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := table.Recovers(); !errors.Is(err, ErrFormat) {
		t.Errorf("%#x, %v", found, err)
	}
	f, _ := table.At(0x1000)
	if _, ok := f.Flags(); ok {
		t.Error("it has flags")
	}
}

// FuzzTable: whatever is in a table, reading it ends, and does not fail.
func FuzzTable(f *testing.F) {
	tab, data := tiny()
	f.Add(tab, data)
	f.Fuzz(func(t *testing.T, tab, data []byte) {
		table, err := Load(tab, data, 0x1000)
		if err != nil || len(tab) > 1<<10 {
			return
		}
		for name := range table.Files {
			for _, line := range table.Lines(name) {
				if len(table.Line(name, line)) == 0 {
					t.Errorf("%s has line %d, but it has no code", name, line)
				}
			}
		}
		for name := range table.Inlined {
			table.Copies(func(s string) bool { return s == name })
		}
		table.At(0x1008)
	})
}
