package ctypes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// TestTooManyUnits: 5 bytes of a file are not made more than a hundred in memory without an end.
func TestTooManyUnits(t *testing.T) {
	info := bytes.Repeat([]byte{1, 0, 0, 0, 0}, maxUnits+1)
	if _, err := Open(map[string][]byte{".debug_info": info, ".debug_abbrev": abbreviations}); !errors.Is(err, errUnits) {
		t.Error(err)
	}
}

// TestOverlappingAbbreviations: each unit's table is another one's, from the second abbreviation on.
func TestOverlappingAbbreviations(t *testing.T) {
	var info, abbrev []byte
	for i := range 100 {
		abbrev = append(abbrev, aUnit, 0x11, 0, 0, 0)
		info = append(binary.LittleEndian.AppendUint32(append(info, 8, 0, 0, 0, 4, 0), uint32(5*i)), 8, aUnit)
	}
	if _, err := Open(map[string][]byte{".debug_info": info, ".debug_abbrev": append(abbrev, 0)}); !errors.Is(err, errAbbrevs) {
		t.Error(err)
	}
	if _, err := Open(map[string][]byte{".debug_info": info[:12], ".debug_abbrev": append(abbrev, 0)}); err != nil {
		t.Error(err)
	}
}

// TestTooManyFiles: a table of lines says that it has more directories, or files, than there is memory.
func TestTooManyFiles(t *testing.T) {
	const aLines = 9
	abbrev := append([]byte{aLines, 0x11, 0, 0x10, 0x17, 0, 0}, 0)
	info := []byte{12, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, aLines, 0, 0, 0, 0}
	many := binary.AppendUvarint(nil, 1<<50)
	for what, lists := range map[string][]byte{
		"directories": append([]byte{1, 1, 0x08}, many...),
		"files":       append([]byte{1, 1, 0x08, 1, '/', 0, 1, 1, 0x08}, many...),
	} {
		body := append([]byte{1, 1, 1, 0, 1, 1}, lists...) // from the shortest instruction on, no standard opcodes
		head := binary.LittleEndian.AppendUint32([]byte{5, 0, 8, 0}, uint32(len(body)))
		lines := append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(head)+len(body))), head...), body...)
		f, err := Open(map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev, ".debug_line": lines})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := countFiles(lines); !errors.Is(err, errFiles) {
			t.Errorf("%s: %v", what, err)
		}
		if _, _, err := f.Line("a.c", 1); err == nil {
			t.Errorf("%s: there is a line", what)
		}
	}
}

// TestFilesAreCounted: of compilers' files as many are counted as there are.
func TestFilesAreCounted(t *testing.T) {
	each(t, func(t *testing.T, _ string, f *File) {
		for _, unit := range f.units {
			r, err := f.data.LineReader(unit)
			if err != nil || r == nil {
				continue
			}
			files := 0
			for _, file := range r.Files() {
				if file != nil {
					files++
				}
			}
			if n, err := countFiles(f.linesOf(unit)); err != nil || n < files || n > 4*files+16 {
				t.Errorf("%d, %v; there are %d files", n, err, files)
			}
		}
	})
}
