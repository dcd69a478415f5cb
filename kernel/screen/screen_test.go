package screen

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// video is a screen's memory, with a margin that nobody may draw on.
type video struct {
	*Screen
	pixels []uint32
	pitch  int // in pixels
	width  int
	height int
}

const untouched = 0x12345678

func start(width, height int) *video {
	v := &video{new(Screen), make([]uint32, (width+3)*(height+1)), width + 3, width, height}
	for i := range v.pixels {
		v.pixels[i] = untouched
	}
	v.Start(Mode{Base: unsafe.Pointer(&v.pixels[0]), Pitch: 4 * v.pitch, Width: width, Height: height, Bytes: 4,
		Red: Colour{16, 8}, Green: Colour{8, 8}, Blue: Colour{0, 8}})
	return v
}

// read recognizes the characters on the screen by their pixels; _ under one is the cursor.
func (v *video) read(t *testing.T) (lines []string) {
	t.Helper()
	cols, rows := v.Size()
	for y := range rows {
		var line strings.Builder
		for x := range cols {
			line.WriteRune(v.recognize(t, x, y))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	for i, p := range v.pixels {
		if x, y := i%v.pitch, i/v.pitch; (x >= v.width || y >= v.height) != (p == untouched) {
			t.Fatalf("pixel %d, %d is %#x", x, y, p)
		}
	}
	return lines
}

func (v *video) recognize(t *testing.T, x, y int) rune {
	var seen [glyphHeight]byte
	for i := range glyphHeight {
		for j := range glyphWidth {
			switch p := v.pixels[(y*glyphHeight+i)*v.pitch+x*glyphWidth+j]; p {
			case 0xaaaaaa:
				seen[i] |= 0x80 >> j
			case 0:
			default:
				t.Fatalf("pixel of colour %#x", p)
			}
		}
	}
	if at := slices.Index(font[:], seen); at >= 0 {
		r := rune(at + firstGlyph)
		if r >= firstBetween && r < firstLatin {
			r = between[r-firstBetween]
		}
		return r
	}
	if seen[14] == 0xff && seen[15] == 0xff {
		return '_'
	}
	t.Fatalf("no glyph at %d, %d: %x", x, y, seen)
	return 0
}

func TestScreen(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a line", "hello\n", "hello|_||"},
		{"all of a row", "12345678", "12345678|||"},
		{"a row and more", "123456789", "12345678|9_||"},
		{"a row and a newline", "12345678\nx", "12345678|x_||"},
		{"scrolls", "1\n2\n3\n4\n5", "2|3|4|5_"},
		{"scrolls far", "1\n2\n3\n4\n5\n6\n7\n8\n", "6|7|8|_"},
		{"carriage return", "abc\rX\n", "Xbc|_||"},
		{"backspace", "abc\b\bX\n", "aXc|_||"},
		{"backspace at the start", "\b\bX\n", "X|_||"},
		{"tab stops at the end", "\ta\n", "       a|_||"},
		{"other control characters", "a\x00\a\x7fb\n", "ab|_||"},
		{"UTF-8", "a\u00e9\u20acb\n", "aé?b|_||"},
		{"signs", "→µ×…≤\n", "→µ×…≤|_||"},
		{"a box", "┌─┬┐\n├─┼┤\n└─┴┘\n", "┌─┬┐|├─┼┤|└─┴┘|_"},
		{"half a character", "a\xe2\x86b\xe2→\x86c\n", "a?b→c|_||"},
		{"erase to the end of the row", "abc\x1b[2D\x1b[K\n", "a|_||"},
		{"erase to its start", "abc\x1b[1D\x1b[1K\n", "|_||"},
		{"erase it", "abc\x1b[2K\n", "|_||"},
		{"erase below", "a\nb\nc\x1b[2A\x1b[J\n", "a|_||"},
		{"clear", "a\nb\x1b[H\x1b[2Jc\n", "c|_||"},
		{"go to", "\x1b[3;2Hx\x1b[4;1H", "||" + " x|_"},
		{"stay inside", "\x1b[99;99Hx\x1b[99A\x1b[99D\x1b[99B\x1b[99C\x1b[1;1H", "_|||       x"},
		{"colours are no text", "\x1b[1;31mred\x1b[m\x1b[?25l\n", "red|_||"},
		{"no sequence", "\x1bXa\n", "a|_||"},
		{"endless number", "\x1b[99999999999999999999Ba\n", "||a|_"},
	} {
		v := start(8*8+5, 4*16+7)
		v.Write([]byte(c.text))
		if got := strings.Join(v.read(t), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRawNewlineGoesDown(t *testing.T) {
	v := start(64, 64)
	v.WriteRaw([]byte("ab\nc\r\nd"))
	if got := strings.Join(v.read(t), "|"); got != "ab|  c|d_|" {
		t.Errorf("%q", got)
	}
}

// TestDepths: the same shapes with pixels of 16 and of 24 bits, and nothing beside them.
func TestDepths(t *testing.T) {
	const width, height, margin, text = 61, 50, 7, "ab\ncd\ne\nf"
	v := start(width, height)
	v.Write([]byte(text))
	for _, c := range []struct {
		Mode
		ink uint32
	}{
		{Mode{Bytes: 2, Red: Colour{11, 5}, Green: Colour{5, 6}, Blue: Colour{0, 5}}, 0b10101_101010_10101},
		{Mode{Bytes: 2, Red: Colour{10, 5}, Green: Colour{5, 5}, Blue: Colour{0, 5}}, 0b10101_10101_10101},
		{Mode{Bytes: 3, Red: Colour{16, 8}, Green: Colour{8, 8}, Blue: Colour{0, 8}}, 0xaaaaaa},
		{Mode{Bytes: 4, Red: Colour{20, 10}, Green: Colour{10, 10}, Blue: Colour{0, 10}}, 0b1010101000_1010101000_1010101000},
	} {
		m := c.Mode
		m.Width, m.Height, m.Pitch = width, height, width*m.Bytes+margin
		memory := bytes.Repeat([]byte{0x55}, m.Pitch*height+margin)
		m.Base = unsafe.Pointer(&memory[0])
		s := new(Screen)
		s.Start(m)
		s.Write([]byte(text))
		for y := range height {
			row := memory[y*m.Pitch : (y+1)*m.Pitch]
			for x := range width {
				p := uint32(0)
				for i := range m.Bytes {
					p |= uint32(row[x*m.Bytes+i]) << (8 * i)
				}
				if drawn := v.pixels[y*v.pitch+x] != 0; p != 0 && p != c.ink || (p != 0) != drawn {
					t.Fatalf("%d bytes: pixel %d, %d is %#x, want ink: %v", m.Bytes, x, y, p, drawn)
				}
			}
			if !bytes.Equal(row[width*m.Bytes:], bytes.Repeat([]byte{0x55}, margin)) {
				t.Fatalf("%d bytes: it draws beside row %d", m.Bytes, y)
			}
		}
	}
}

func TestTextMode(t *testing.T) {
	memory := make([]uint16, 80*25)
	s := new(Screen)
	s.Start(Mode{Base: unsafe.Pointer(&memory[0]), Pitch: 160, Width: 80, Height: 25, Text: true})
	s.Write([]byte("hi\n"))
	if memory[0] != 0x0768 || memory[1] != 0x0769 || memory[2] != 0x0720 || memory[80] != 0x7020 {
		t.Errorf("%x, %x", memory[:3], memory[80])
	}
}

func TestTextModeHasItsOwnCodes(t *testing.T) {
	memory := make([]uint16, 80*25)
	s := new(Screen)
	s.Start(Mode{Base: unsafe.Pointer(&memory[0]), Pitch: 160, Width: 80, Height: 25, Text: true})
	s.Write([]byte("─→ü✓\u0152þ"))
	for i, want := range []uint16{0x7c4, 0x71a, 0x781, 0x7fb, 0x73f, 0x73f} {
		if memory[i] != want {
			t.Errorf("character %d is %#x, want %#x", i, memory[i], want)
		}
	}
}

// TestScrollBack: half a screen at a time, to the first row that was kept; what is written next shows
// the present.
func TestScrollBack(t *testing.T) {
	v := start(64, 64)
	is := func(when, want string) {
		t.Helper()
		if got := strings.Join(v.read(t), "|"); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	v.Scroll(true)
	is("nothing is kept", "_|||")
	v.Write([]byte("1\n2\n3\n4\n5\n6\n7"))
	v.Scroll(true)
	is("back", "2|3|4|5")
	v.Scroll(true)
	is("to the first", "1|2|3|4")
	v.Scroll(true)
	is("no further", "1|2|3|4")
	v.Scroll(false)
	is("forward", "3|4|5|6")
	v.Write([]byte("x"))
	is("written", "4|5|6|7x_")
	v.Scroll(true)
	v.Scroll(false)
	v.Scroll(false)
	is("the present", "4|5|6|7x_")
	for range historySize/8 + 8 {
		v.Write([]byte("\nz"))
	}
	for range historySize / 8 {
		v.Scroll(true)
	}
	is("the oldest that is kept", "z|z|z|z")
	v.drawer.Store(1) // somebody draws
	v.Scroll(false)
	is("not while somebody draws", "z|z|z|z")
}

func TestNoScreenShowsNothing(t *testing.T) {
	s := new(Screen)
	s.Start(Mode{Width: 7, Height: 400})
	s.Write([]byte("nobody sees this"))
	if cols, rows := s.Size(); s.On() || cols != 0 || rows != 0 {
		t.Error("a screen of 7 pixels")
	}
}

// TestHugeScreen: more rows than there is room for are not used.
func TestHugeScreen(t *testing.T) {
	v := start(maxCells*2, 64)
	if cols, rows := v.Size(); cols*rows > maxCells || rows == 0 {
		t.Errorf("%d by %d", cols, rows)
	}
	v.Write([]byte(strings.Repeat("x\n", 10)))
}

// TestWhoInterruptsTheDrawingLeavesItsText: it is shown by what it has interrupted.
func TestWhoInterruptsTheDrawingLeavesItsText(t *testing.T) {
	v := start(64, 64)
	v.drawer.Store(1) // somebody
	v.Write([]byte("a"))
	v.Put('b')
	if got := v.read(t)[0]; got != "" {
		t.Errorf("%q is shown", got)
	}
	v.Rescue(2, 3) // not this one
	v.Write(nil)
	if got := v.read(t)[0]; got != "" {
		t.Errorf("%q is shown", got)
	}
	v.Rescue(1, 2)
	v.Write([]byte("c"))
	if got := v.read(t)[0]; got != "abc_" {
		t.Errorf("%q", got)
	}
}

// TestEchoesEnd: a handler that logs a line for each character that is drawn does not keep
// the drawing going for ever.
func TestEchoesEnd(t *testing.T) {
	v := start(64, 64)
	v.drawer.Store(1) // it draws, and what follows interrupts it
	for range 100 {
		v.Write(make([]byte, 100))
	}
	if n := v.queue.head.Load(); n > maxEchoes {
		t.Errorf("%d bytes are queued", n)
	}
	v.drawerCPU.Store(1) // the others may
	v.Write(make([]byte, 100))
	if n := v.queue.head.Load(); n <= maxEchoes {
		t.Errorf("%d bytes are queued", n)
	}
}

// TestTheDyingDraw, whoever has the screen, and past a writer that will not continue.
func TestTheDyingDraw(t *testing.T) {
	v := start(64, 64)
	v.drawer.Store(1)
	v.queue.head.Add(1) // a writer that was stopped here
	v.Die()
	v.Write([]byte("x"))
	if got := v.read(t)[0]; got != "x_" {
		t.Errorf("%q", got)
	}
}

// TestQueue: many write at once, and nothing is lost or twice but what does not fit.
func TestQueue(t *testing.T) {
	q := new(queue)
	var writers sync.WaitGroup
	const each = 5000
	for range 3 {
		writers.Go(func() {
			for i := range each {
				q.put(byte(i))
			}
		})
	}
	got, counts := 0, [256]int{}
	read := func() {
		for c, ok := q.get(); ok; c, ok = q.get() {
			got++
			counts[c]++
		}
	}
	done := make(chan bool)
	go func() { writers.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		read()
	}
	read()
	if got+int(q.lost.Load()) != 3*each || q.waiting() {
		t.Errorf("%d read, %d lost of %d", got, q.lost.Load(), 3*each)
	}
	for range 2 * queueSize {
		q.put('x')
	}
	if n := int(q.lost.Load()); n < queueSize {
		t.Errorf("%d lost", n)
	}
}
