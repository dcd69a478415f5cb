package qr

import (
	"bytes"
	"testing"

	"rsc.io/qr/coding"
)

// TestEncode: the codes are those that the library makes, which allocates.
func TestEncode(t *testing.T) {
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 2, 100, MaxText - 1, MaxText, MaxText, 3} {
		text := bytes.Repeat([]byte("Kernel panic: \xff"), MaxText)[:n]
		plan, err := coding.NewPlan(version, coding.L, 0)
		if err != nil {
			t.Fatal(err)
		}
		want, err := plan.Encode(coding.String(text))
		if err != nil {
			t.Fatal(err)
		}
		if allocs := testing.AllocsPerRun(1, func() { c.Encode(text) }); allocs != 0 {
			t.Errorf("%d bytes: it allocates %v times", n, allocs)
		}
		if want.Size != Size {
			t.Fatalf("%d squares, want %d", Size, want.Size)
		}
		for y := range Size {
			for x := range Size {
				if c.Dark(x, y) != want.Black(x, y) {
					t.Fatalf("%d bytes: the square at %d, %d differs", n, x, y)
				}
			}
		}
	}
}

// TestEncodeCuts: of a text that is too long, the beginning is kept.
func TestEncodeCuts(t *testing.T) {
	long, _ := New()
	short, _ := New()
	text := bytes.Repeat([]byte("x"), MaxText)
	long.Encode(append(text, "more"...))
	short.Encode(text)
	if long.bytes != short.bytes {
		t.Error("it differs from the code of what fits")
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New()
	}
}
