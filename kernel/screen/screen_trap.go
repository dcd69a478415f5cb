package screen

// Trap context: see the package comment.

import (
	"sync/atomic"
	"unsafe"
)

// Mode is what there is to draw on. With Text it shows characters of its own, as the VGA
// does; else pixels of Bytes bytes, 2 to 4.
type Mode struct {
	Base             unsafe.Pointer
	Pitch            int // bytes from one row to the next
	Width, Height    int // pixels, or characters
	Bytes            int
	Red, Green, Blue Colour
	Text             bool
}

// Colour is a field of a pixel: its lowest bit, and how many bits it has.
type Colour struct{ At, Bits uint8 }

// grey is the field's part of a light grey, 2/3 of what it can be.
func (c Colour) grey() uint32 { return 0xaa << 24 >> (32 - c.Bits) << c.At }

// Screen is a console. The zero Screen shows nothing.
type Screen struct {
	queue queue
	// drawer is an address in the stack of the code that draws; 0: none. It is on the CPU number
	// drawerCPU, where echoes bytes were queued since it began.
	drawer    atomic.Uintptr
	drawerCPU atomic.Uint32
	echoes    atomic.Uint32
	dying     atomic.Bool
	on        bool // written once at boot

	// guarded by drawer:
	mode       Mode
	cols, rows int
	x, y       int // the cursor; x is cols where the next character begins a row
	ink        uint32
	sequence   sequence
	utf8       utf8
	back       int            // rows of the history that are being looked at
	cells      [maxCells]byte // row by row, 0 is a blank
	history    history
}

// Main is the machine's screen.
var Main Screen

// maxCells is how many characters there is room for: as many as on 4096 by 2160 pixels.
const maxCells = 512 * 135

// Start begins to show what is written, on an empty screen.
//
// Context: boot.
func (s *Screen) Start(m Mode) {
	s.mode = m
	s.cols, s.rows = m.Width/glyphWidth, m.Height/glyphHeight
	if m.Text {
		s.cols, s.rows = m.Width, m.Height
	}
	s.ink = m.Red.grey() | m.Green.grey() | m.Blue.grey()
	if s.cols <= 0 || s.rows <= 0 {
		return
	}
	s.rows = min(s.rows, maxCells/s.cols)
	s.wipe()
	s.on = true
}

// Move says that the video memory is mapped at base from now on.
//
// Context: boot.
func (s *Screen) Move(base unsafe.Pointer) { s.mode.Base = base }

// On reports whether there is a screen.
func (s *Screen) On() bool { return s.on }

// Size returns how many characters fit, 0 if there is no screen.
func (s *Screen) Size() (cols, rows int) {
	if !s.on {
		return 0, 0
	}
	return s.cols, s.rows
}

// Write shows p; a newline begins a new line.
//
// Context: any.
func (s *Screen) Write(p []byte) { s.write(p, true) }

// WriteRaw shows p, in which a newline goes down only.
//
// Context: any.
func (s *Screen) WriteRaw(p []byte) { s.write(p, false) }

func (s *Screen) write(p []byte, newline bool) {
	if !s.on {
		return
	}
	const batch = 1024 // far less than the queue holds
	for i, c := range p {
		if s.isEcho() {
			s.queue.lost.Add(1)
			continue
		}
		if c == '\n' && newline {
			s.queue.put('\r')
		}
		s.queue.put(c)
		if i%batch == batch-1 {
			s.draw()
		}
	}
	s.draw()
}

// maxEchoes is how many bytes are let through that are queued on top of the drawing.
const maxEchoes = 2048

// isEcho reports whether a byte is one too many of what interrupts the drawing: a probe
// there whose handler logs makes lines that are drawn, which is hits that make lines, and
// so without end.
func (s *Screen) isEcho() bool {
	return s.drawer.Load() != 0 && s.drawerCPU.Load() == self() && !s.dying.Load() && s.echoes.Add(1) > maxEchoes
}

// Put queues a byte, which is shown when something is written. It is for code that may
// call nothing.
//
// Context: any.
//
//go:nosplit
func (s *Screen) Put(c byte) {
	if s.on {
		s.queue.put(c)
	}
}

// draw shows what is queued, unless somebody does already.
func (s *Screen) draw() {
	var here byte
	for s.begin(&here) {
		s.look(0)
		s.paint(s.x, s.y) // without the cursor
		for {
			if c, ok := s.queue.get(); ok {
				s.put(c)
			} else if !s.dying.Load() || !s.queue.skip() {
				break
			}
		}
		s.cursor()
		s.drawer.Store(0)
		if !s.queue.waiting() {
			return
		}
	}
}

// begin makes the caller, on whose stack here is, the one who draws, unless somebody does already.
func (s *Screen) begin(here *byte) bool {
	if !s.drawer.CompareAndSwap(0, uintptr(unsafe.Pointer(here))) && !s.dying.Load() {
		return false
	}
	s.drawerCPU.Store(self())
	s.echoes.Store(0)
	return true
}

// Die makes everybody draw from now on, who has begun to draw or not: it may be what has
// died, or has been stopped.
//
// Context: any; only on the way down.
func (s *Screen) Die() { s.dying.Store(true) }

// Dying reports whether Die was called.
//
// Context: any.
func (s *Screen) Dying() bool { return s.dying.Load() }

// Rescue is for when what ran with its stack between lo and hi has been abandoned: it
// draws no longer.
//
// Context: any, on the CPU that it ran on.
func (s *Screen) Rescue(lo, hi uintptr) {
	if at := s.drawer.Load(); at >= lo && at < hi {
		s.drawer.CompareAndSwap(at, 0)
	}
}
