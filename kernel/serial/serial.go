// Package serial drives 16550 serial ports, wherever their registers are: the consoles of
// boards.
//
// Output is polled, because it must work in any context, down to the last message of a
// dying kernel. Input comes by interrupt, or is polled for (kernel/console).
//
// Source: PC16550D data sheet, "Registers".
package serial

import (
	"sync/atomic"
	"unsafe"

	"github.com/usbarmory/tamago/soc/intel/uart"
)

// Port is a serial port. Where its registers are, is in Base: an I/O port's number or, for
// Memory, a physical address, which must be mapped where At says. Registers lie Stride bytes
// apart, and if Wide are read and written by 32 bits.
//
// Everything that takes a *Port must be given one that Open has found.
type Port struct {
	Name   string
	Base   uint64
	Memory bool
	Wide   bool
	Stride uint8
	IRQ    uint8  // of the legacy interrupts; 0: not known
	Minor  uint8  // of the device /dev/ttyS*
	Baud   uint32 // 0: as firmware has set it
	At     uintptr

	fifo   bool   // it takes 16 bytes at a look at its status; set by Open
	bursts uint32 // 1: a writer writes several bytes at a look
}

// Registers is how many registers a port has.
const Registers = 8

const (
	scratch = 7
	latch   = 0x80 // of the line control: the first two registers are the divisor
	eight   = 3    // bits, no parity, one stop bit
	clock   = 115200
	fifos   = 7 // on, and emptied

	trigger8 = 0x81 // on, with an interrupt at eight bytes
	idle     = 1<<uart.LSR_THRE | 1<<6
	absent   = 0xff
	hasFIFO  = 0xc0 // of the interrupt identification, once they are on

	// burst is how many bytes one writer sends at a look at the status. The FIFO has room for 16: two other writers
	// may have seen it empty at the same time, and send a byte each.
	burst = 14
)

//go:nosplit
func (p *Port) in(register uint8) uint8 {
	if !p.Memory {
		return in8(uint16(p.Base) + uint16(register))
	}
	at := p.at(register)
	if p.Wide {
		return uint8(*(*uint32)(at))
	}
	return *(*uint8)(at)
}

//go:nosplit
func (p *Port) out(register, v uint8) {
	if !p.Memory {
		out8(uint16(p.Base)+uint16(register), v)
		return
	}
	at := p.at(register)
	if p.Wide {
		*(*uint32)(at) = uint32(v)
		return
	}
	*(*uint8)(at) = v
}

// at is where a register is.
// Safe because: whoever filled in At has mapped it.
//
//go:nosplit
func (p *Port) at(register uint8) unsafe.Pointer {
	v := p.At + uintptr(register)*uintptr(p.Stride)
	return *(*unsafe.Pointer)(unsafe.Pointer(&v))
}

// Open makes p ready to send, without interrupts, and reports whether a serial port answers
// there.
//
// Context: boot, before the runtime.
func (p *Port) Open() bool {
	p.out(scratch, 0x5a)
	if p.in(scratch) != 0x5a {
		return false
	}
	p.out(uart.IER, 0)
	if p.Baud != 0 {
		divisor := max(clock/p.Baud, 1)
		p.out(uart.LCR, latch)
		p.out(0, uint8(divisor))
		p.out(1, uint8(divisor>>8))
	}
	p.out(uart.LCR, eight)
	p.out(uart.FCR, fifos)
	p.out(uart.MCR, 1<<uart.MCR_INTEN|1<<uart.MCR_RTS|1<<uart.MCR_DTR)
	// What firmware has written must get out some time: one that is never idle is something else.
	for range 1_000_000 {
		if s := p.in(uart.LSR); s != absent && s&idle == idle {
			p.fifo = p.in(uart.FCR)&hasFIFO == hasFIFO
			return true
		}
	}
	return false
}

// Putc writes one byte, when the transmitter has room.
//
// Context: any. It is nosplit because the thread shim calls it.
//
//go:nosplit
func (p *Port) Putc(c byte) {
	p.await()
	p.out(uart.THR, c)
}

// await waits until the transmitter is empty.
//
//go:nosplit
func (p *Port) await() {
	for p.in(uart.LSR)&(1<<uart.LSR_THRE) == 0 {
		pause()
	}
}

// Write writes b; a newline becomes CR LF.
//
// Context: any.
//
//go:nosplit
func (p *Port) Write(b []byte) { p.write(b, true) }

// WriteRaw writes b as it is.
//
// Context: any.
func (p *Port) WriteRaw(b []byte) { p.write(b, false) }

// write looks at the status, which takes longer than all else, once for several bytes.
//
//go:nosplit
func (p *Port) write(b []byte, text bool) {
	most := 1
	if p.fifo && atomic.CompareAndSwapUint32(&p.bursts, 0, 1) {
		most = burst
	}
	room := 0
	for _, c := range b {
		if text && c == '\n' {
			room = p.put('\r', room, most)
		}
		room = p.put(c, room, most)
	}
	if most == burst {
		atomic.StoreUint32(&p.bursts, 0)
	}
}

// put writes one byte, with a look at the status if there is no room, after which there is room for most. It
// returns the room that is left.
//
//go:nosplit
func (p *Port) put(c byte, room, most int) int {
	if room == 0 {
		p.await()
		room = most
	}
	p.out(uart.THR, c)
	return room - 1
}

// Getc returns a received byte, ok false if there is none.
//
// Context: any.
func (p *Port) Getc() (c byte, ok bool) {
	if p.in(uart.LSR)&(1<<uart.LSR_DR) == 0 {
		return 0, false
	}
	return p.in(uart.RBR), true
}

// TryWrite writes as much of b as it is, as the transmitter takes now, without waiting, and returns how many bytes
// these are.
//
// Context: any.
func (p *Port) TryWrite(b []byte) (n int) {
	if !atomic.CompareAndSwapUint32(&p.bursts, 0, 1) {
		return 0
	}
	if p.in(uart.LSR)&(1<<uart.LSR_THRE) != 0 {
		n = min(len(b), 1)
		if p.fifo {
			n = min(len(b), burst)
		}
		for _, c := range b[:n] {
			p.out(uart.THR, c)
		}
	}
	atomic.StoreUint32(&p.bursts, 0)
	return n
}

// EnableReceive makes the port interrupt when eight bytes have arrived, or fewer and then none for a moment.
func (p *Port) EnableReceive() {
	p.out(uart.FCR, trigger8)
	p.out(uart.IER, 1<<uart.IER_ERBFI)
}
