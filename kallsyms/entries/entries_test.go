package entries

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"
)

func TestTableRoundTrip(t *testing.T) {
	blob, err := Encode([]uint64{0x30, 0x10, 0x20, 0x10, 0x2f})
	if err != nil {
		t.Fatal(err)
	}
	table, err := Load(append(blob, "what follows"...))
	if err != nil || table.Len() != 4 {
		t.Fatal(table, err)
	}
	for _, c := range []struct {
		addr, size uint64
		want       []uint64
	}{
		{0x10, 0x10, []uint64{0x10}},
		{0x11, 0x20, []uint64{0x20, 0x2f, 0x30}},
		{0x11, 0x1f, []uint64{0x20, 0x2f}},
		{0, 1 << 63, []uint64{0x10, 0x20, 0x2f, 0x30}},
		{0x11, 5, nil},
		{0x31, 1 << 40, nil},
	} {
		if got := table.Within(c.addr, c.size); !slices.Equal(got, c.want) {
			t.Errorf("within %#x, %#x: %#x, want %#x", c.addr, c.size, got, c.want)
		}
	}
	if none := (*Table)(nil); none.Len() != 0 || none.Within(0, 100) != nil {
		t.Error("the nil table is not empty")
	}
}

func TestTableRefuses(t *testing.T) {
	if _, err := Encode([]uint64{1, 1 << 32}); !errors.Is(err, ErrFar) {
		t.Error(err)
	}
	good, _ := Encode([]uint64{1, 2})
	wrong := slices.Clone(good)
	binary.LittleEndian.PutUint32(wrong[headerSize:], 3)
	for name, blob := range map[string][]byte{
		"empty": nil, "no magic": make([]byte, 100), "cut off": good[:len(good)-1], "order": wrong,
	} {
		if _, err := Load(blob); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKernelWithoutTable(t *testing.T) {
	if table, err := Kernel(); !errors.Is(err, ErrFormat) || table != nil {
		t.Error(table, err)
	}
}

// TestFind looks at three functions of 16 bytes.
func TestFind(t *testing.T) {
	const base = 0x1000
	text := make([]byte, 48)
	for i := range text {
		text[i] = 0x90
	}
	copy(text[0:], "\xeb\x12")                      // to 0x1014, inside the second
	copy(text[2:], "\xe8\x09\x00\x00\x00")          // calls 0x1010, its entry
	copy(text[7:], "\xeb\x03")                      // to 0x100c, its own
	copy(text[16:], "\x74\x18")                     // to 0x102a, inside the third
	copy(text[18:], "\x48\x8d\x05\xf5\xff\xff\xff") // LEA of 0x100e, inside the first
	copy(text[25:], "\xe9\x00\x10\x00\x00")         // out of the text
	copy(text[32:], "\x06\xeb\xe1")                 // not an instruction; to 0x1004
	funcs := []Func{{base + 32, 16}, {base, 16}, {base + 16, 16}, {base, 8}, {base + 40, 100}}
	got := Find(text, base, funcs[:4])
	slices.Sort(got)
	if want := []uint64{0x1004, 0x100e, 0x1014, 0x102a}; !reflect.DeepEqual(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
	Find(text, base, funcs) // the last is not within the text
}
