package serial

import (
	"testing"
	"unsafe"
)

// Offsets of registers.
const (
	data, interruptEnable, lineControl, lineStatus = 0, 1, 3, 5
)

// port is one in b, whose registers lie stride bytes apart. It is always ready.
func port(b []byte, stride uint8, baud uint32) *Port {
	b[lineStatus*int(stride)] = 0x60
	return &Port{Memory: true, Wide: stride == 4, Stride: stride, Baud: baud, At: uintptr(unsafe.Pointer(&b[0]))}
}

func TestPortInMemory(t *testing.T) {
	for _, stride := range []uint8{1, 2, 4} {
		b := make([]byte, 8*int(stride))
		p := port(b, stride, 9600)
		if !p.Open() {
			t.Fatal("it does not answer")
		}
		if b[lineControl*stride] != 3 || b[data] != 12 || b[interruptEnable*stride] != 0 {
			t.Errorf("stride %d: registers % x", stride, b)
		}
		p.Write([]byte("a\nx"))
		if b[data] != 'x' {
			t.Errorf("stride %d: sent %q", stride, b[data])
		}
		if _, ok := p.Getc(); ok {
			t.Error("a byte that nobody has sent")
		}
		b[lineStatus*stride] |= 1
		if c, ok := p.Getc(); !ok || c != 'x' {
			t.Errorf("%q, %v", c, ok)
		}
		p.EnableReceive()
		if b[interruptEnable*stride] != 1 {
			t.Errorf("stride %d: no interrupts: % x", stride, b)
		}
	}
}

// TestSpeedStays: a port without a speed keeps the divisor that firmware has written.
func TestSpeedStays(t *testing.T) {
	b := make([]byte, 8)
	b[data] = 77
	if !port(b, 1, 0).Open() || b[data] != 77 {
		t.Errorf("% x", b)
	}
}

// TestNoPortThere: neither where nothing is, nor in ordinary memory.
func TestNoPortThere(t *testing.T) {
	if (&Port{Base: 0x3f8}).Open() {
		t.Error("a port that does not exist answers")
	}
	b := make([]byte, 8)
	p := port(b, 1, 115200)
	b[lineStatus] = 0
	if p.Open() {
		t.Error("memory is taken for a port")
	}
}

// TestSeveralBytesAtALook: what is written at once comes out byte by byte, also while another writer holds the port.
func TestSeveralBytesAtALook(t *testing.T) {
	for _, held := range []uint32{0, 1} {
		b := make([]byte, 8)
		p := port(b, 1, 0)
		p.fifo, p.bursts = true, held
		looks := 0
		for room, i := 0, 0; i < 3*burst; i++ {
			if room == 0 {
				looks++
			}
			room = p.put('x', room, burst)
		}
		if looks != 3 {
			t.Errorf("%d looks at the status for %d bytes", looks, 3*burst)
		}
		p.WriteRaw([]byte("abc"))
		if b[data] != 'c' || p.bursts != held {
			t.Errorf("sent %q, bursts %d", b[data], p.bursts)
		}
		want := burst
		if held != 0 {
			want = 0
		}
		if n := p.TryWrite(make([]byte, 100)); n != want || p.bursts != held {
			t.Errorf("%d bytes at once", n)
		}
		b[lineStatus] = 0
		if n := p.TryWrite([]byte{1}); n != 0 {
			t.Error("it does not take a byte, and got one")
		}
	}
}
