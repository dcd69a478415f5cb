package image

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestMultibootHeader reads the header of a finished image as a loader does: by its
// magic, in the first 32 KiB at a multiple of 8, with four words that add up to zero.
func TestMultibootHeader(t *testing.T) {
	raw := link(t)
	out := filepath.Join(t.TempDir(), "tiny.elf")
	opts := Options{Entry: "main.main", Multiboot: "main.main", SymtabVar: "main.symtab"}
	if err := Finish(raw, out, opts); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	at := -8
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(data[at+i:]) }
	for found := false; !found; found = word(0) == headerMagic && word(0)+word(4)+word(8)+word(12) == 0 {
		if at += 8; at == 32<<10 {
			t.Fatal("no header")
		}
	}
	info, err := Inspect(out)
	if err != nil {
		t.Fatal(err)
	}
	types, entry := []uint32{}, uint32(0)
	end, i := int(word(8)), 16
	for ; i < end; i += int(word(i+4)+7) &^ 7 {
		types = append(types, word(i)&0xffff)
		if word(i) == headerEntry {
			entry = word(i + 8)
		}
	}
	if i != end || len(types) != 3 || types[2] != 0 || uint64(entry) != info.Entry {
		t.Errorf("tags %d up to %#x of %#x, entry %#x, want %#x", types, i, end, entry, info.Entry)
	}
}

// TestMultibootNeedsRoom: what is there is not overwritten.
func TestMultibootNeedsRoom(t *testing.T) {
	raw, err := os.ReadFile(link(t))
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(raw)
	if err != nil {
		t.Fatal(err)
	}
	f.data[multibootAt+20] = 1
	if err := f.putMultiboot("main.main"); !errors.Is(err, ErrLayout) {
		t.Error(err)
	}
	if err := f.putMultiboot("nobody"); err != nil {
		t.Error(err)
	}
}
