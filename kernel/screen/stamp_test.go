package screen

import (
	"slices"
	"testing"
	"unsafe"
)

// corner is a picture of which only the first square is dark.
type corner struct{}

func (corner) Dark(x, y int) bool { return x == 0 && y == 0 }

// TestStamp: a picture of 10 squares with its margin is in the upper right corner, and nothing else changes.
func TestStamp(t *testing.T) {
	v := start(18*3*3, 18*3*2+10) // 3 pixels a square
	v.Stamp(corner{}, 10)
	for i, p := range v.pixels {
		x, y := i%v.pitch, i/v.pitch
		col, row := (x-(v.width-18*3))/3, y/3
		want := uint32(0)
		switch {
		case x >= v.width || y >= v.height:
			want = untouched
		case x < v.width-18*3 || row >= 18:
		case col == quiet && row == quiet:
		default:
			want = 0xaaaaaa
		}
		if p != want {
			t.Fatalf("pixel %d, %d is %#x, want %#x", x, y, p, want)
		}
	}
}

// TestNoStamp: a screen that is too small for it keeps what it shows, and so does one of characters.
func TestNoStamp(t *testing.T) {
	v := start(18*3*leastPixel-1, 400)
	was := slices.Clone(v.pixels)
	if v.Stamp(corner{}, 10); !slices.Equal(was, v.pixels) {
		t.Error("a picture is on a screen that is too small")
	}
	letters := make([]uint16, 200*100)
	var s Screen
	s.Start(Mode{Base: unsafe.Pointer(&letters[0]), Pitch: 400, Width: 200, Height: 100, Bytes: 2, Text: true})
	before := slices.Clone(letters)
	if s.Stamp(corner{}, 1); !slices.Equal(before, letters) {
		t.Error("a picture is on a screen of characters")
	}
	new(Screen).Stamp(corner{}, 10) // no screen
}
