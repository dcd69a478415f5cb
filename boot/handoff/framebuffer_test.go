package handoff

import "testing"

func TestDrawable(t *testing.T) {
	true32 := Framebuffer{Pitch: 4096, Width: 1024, Height: 768, Bits: 32, Kind: Pixels, Red: Field{16, 8}, Green: Field{8, 8}, Blue: Field{0, 8}}
	for _, c := range []struct {
		name string
		edit func(f *Framebuffer)
		want bool
	}{
		{"32 bits", func(*Framebuffer) {}, true},
		{"24 bits", func(f *Framebuffer) { f.Bits, f.Pitch = 24, 3072 }, true},
		{"16 bits", func(f *Framebuffer) {
			f.Bits, f.Pitch, f.Red, f.Green, f.Blue = 16, 2048, Field{11, 5}, Field{5, 6}, Field{0, 5}
		}, true},
		{"15 bits", func(f *Framebuffer) {
			f.Bits, f.Pitch, f.Red, f.Green, f.Blue = 15, 2048, Field{10, 5}, Field{5, 5}, Field{0, 5}
		}, true},
		{"30 bits", func(f *Framebuffer) { f.Bits, f.Red = 30, Field{20, 10} }, true},
		{"characters", func(f *Framebuffer) { *f = Framebuffer{Pitch: 160, Width: 80, Height: 25, Bits: 16, Kind: Text} }, true},
		{"colours by number", func(f *Framebuffer) { f.Kind = Indexed }, false},
		{"8 bits", func(f *Framebuffer) { f.Bits = 8 }, false},
		{"33 bits", func(f *Framebuffer) { f.Bits = 33 }, false},
		{"a colour outside", func(f *Framebuffer) { f.Red = Field{25, 8} }, false},
		{"no colour", func(f *Framebuffer) { f.Blue = Field{} }, false},
		{"rows too close", func(f *Framebuffer) { f.Pitch-- }, false},
		{"nothing", func(f *Framebuffer) { f.Width = 0 }, false},
		{"no rows", func(f *Framebuffer) { f.Height = 0 }, false},
		{"huge", func(f *Framebuffer) { f.Height = 1 << 16 }, false},
		{"huge rows", func(f *Framebuffer) { f.Pitch = 1 << 20 }, false},
		{"unknown", func(f *Framebuffer) { f.Kind = 7 }, false},
	} {
		f := true32
		c.edit(&f)
		if got := f.Drawable(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
