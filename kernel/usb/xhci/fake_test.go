package xhci

import (
	"sync"

	"sonde/kernel/usb"
)

// A fake is a controller with devices at its ports, as far as a driver can tell. What it does wrong, its faults say.
type fake struct {
	mu      sync.Mutex
	words   map[uint32]uint32 // registers that only hold what was written
	pages   map[uint64]*[pageWords]uint32
	ports   []*fakeDevice // by port
	portSC  []uint32
	slots   map[int]*fakeSlot
	command fakeRing
	event   struct {
		next  int
		cycle uint32
	}
	wide      bool // contexts of 64 bytes
	scratch   uint32
	owned     bool // by firmware
	faults    faults
	interrupt func()
	kick      chan struct{}
}

// faults are what a controller can do wrong.
type faults struct {
	silent, neverHalts, neverResets, firmwareKeeps bool
	deafCommand                                    uint32 // the kind of command that it ignores
	slot                                           uint32 // what it gives instead of a slot
	code                                           func(kind uint32) uint32
}

// fakeRing is what the controller knows of a ring.
type fakeRing struct {
	at    uint64
	cycle uint32
}

// fakeSlot is a device's slot.
type fakeSlot struct {
	context  uint64
	rings    [endpoints]fakeRing
	device   *fakeDevice
	halted   [endpoints]bool
	speed    usb.Speed
	port     int
	route    uint32
	ttSlot   int
	packet   uint32
	isHub    bool
	hubPorts int
}

// fakeDevice is a device: what it answers to requests, and sends from its endpoints.
type fakeDevice struct {
	speed    usb.Speed
	children map[int]*fakeDevice
	// control answers a request: up to n bytes, and a completion code. data is what a request brings.
	control func(s usb.Setup, n int, data []byte) ([]byte, uint32)
	// in returns what an endpoint has to send; code 0: nothing yet.
	in func(endpoint, n int) ([]byte, uint32)
}

// never is a code of a device that does not answer.
const never = 0xff

const (
	fakeOp, fakeRun, fakeBells = 0x40, 0x1000, 0x2000
	fakeLegacy                 = 0x500
)

func newFake(ports int) *fake {
	f := &fake{words: map[uint32]uint32{}, pages: map[uint64]*[pageWords]uint32{}, ports: make([]*fakeDevice, ports+1), portSC: make([]uint32, ports+1),
		slots: map[int]*fakeSlot{}, kick: make(chan struct{}, 1), interrupt: func() {}}
	f.words[fakeOp+USBSTS] = HCHalted
	return f
}

// Page implements Machine.
func (f *fake) Page(low bool) (Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pa := 0x10_0000 + uint64(len(f.pages))*pageBytes
	if !low {
		pa += 5 << 32
	}
	p := new([pageWords]uint32)
	f.pages[pa] = p
	return Page{p, pa}, nil
}

// page is the page at an address that the driver has given.
func (f *fake) page(pa uint64) *Page {
	p := f.pages[pa&^(pageBytes-1)]
	if p == nil {
		panic("the driver gives an address that is none of its pages")
	}
	return &Page{p, pa &^ (pageBytes - 1)}
}

func (f *fake) word(pa uint64) uint32 { return f.page(pa).load(int(pa % pageBytes / 4)) }
func (f *fake) long(pa uint64) uint64 { return uint64(f.word(pa)) | uint64(f.word(pa+4))<<32 }

// Read32 implements Machine.
func (f *fake) Read32(at uint32) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.silent {
		return ^uint32(0)
	}
	switch {
	case at == CAPLENGTH:
		return 0x0110_0000 | fakeOp
	case at == HCSPARAMS1:
		return uint32(len(f.ports)-1)<<24 | 1<<8 | 8
	case at == HCSPARAMS2:
		return f.scratch << 27
	case at == HCCPARAMS1:
		v := uint32(AC64 | fakeLegacy/4<<16)
		if f.wide {
			v |= CSZ
		}
		return v
	case at == DBOFF:
		return fakeBells
	case at == RTSOFF:
		return fakeRun
	case at == fakeLegacy:
		v := f.words[at] | USBLEGSUP
		if f.owned {
			v |= biosOwned
		}
		return v
	case at == fakeOp+PAGESIZE:
		return 1
	case at >= fakeOp+PORTSC && at < fakeOp+PORTSC+portBytes*uint32(len(f.ports)-1):
		return f.portSC[(at-fakeOp-PORTSC)/portBytes+1]
	}
	return f.words[at]
}

// Write32 implements Machine.
func (f *fake) Write32(at, v uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.silent {
		return
	}
	switch {
	case at == fakeOp+USBCMD:
		f.words[at] = v
		switch {
		case v&HCRST != 0 && !f.faults.neverResets:
			f.words[at] = 0
		case v&RunStop != 0:
			f.words[fakeOp+USBSTS] &^= HCHalted
			f.event.cycle = cycleBit
			f.command = fakeRing{f.long64(fakeOp+CRCR) &^ 63, cycleBit}
		case !f.faults.neverHalts:
			f.words[fakeOp+USBSTS] |= HCHalted
		}
	case at == fakeOp+USBSTS:
		f.words[at] &^= v & (EINT | PCD | HSE)
	case at == fakeLegacy:
		f.words[at] = v & osOwned
		if v&osOwned != 0 && !f.faults.firmwareKeeps {
			f.owned = false
		}
	case at >= fakeOp+PORTSC && at < fakeOp+PORTSC+portBytes*uint32(len(f.ports)-1):
		f.writePort(int((at-fakeOp-PORTSC)/portBytes)+1, v)
	case at >= fakeBells && at < fakeBells+4*256:
		f.ring(int(at-fakeBells)/4, int(v&0xff))
	default:
		f.words[at] = v
	}
}

func (f *fake) long64(at uint32) uint64 { return uint64(f.words[at]) | uint64(f.words[at+4])<<32 }

func (f *fake) writePort(port int, v uint32) {
	sc := &f.portSC[port]
	*sc &^= v & changes
	if v&PED != 0 {
		*sc &^= PED
	}
	if d := f.ports[port]; v&PR != 0 && d != nil {
		*sc |= PED | 1<<21 // the reset has ended
		f.post(trb{uint32(port) << 24, 0, 1 << 24, trbPortEvent << kindShift})
	}
}

// plug puts a device into a port, or nil.
func (f *fake) plug(port int, d *fakeDevice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ports[port] = d
	f.portSC[port] = PP | CSC
	if d != nil {
		f.portSC[port] |= CCS | uint32(d.speed)<<10
	}
	f.post(trb{uint32(port) << 24, 0, 1 << 24, trbPortEvent << kindShift})
}

// post tells the driver of an event. f.mu is held.
func (f *fake) post(t trb) {
	if f.words[fakeOp+USBCMD]&RunStop == 0 {
		return
	}
	p := f.page(f.long(f.long64(fakeRun + ERSTBA)))
	for k, v := range t[:3] {
		p.store(f.event.next*4+k, v)
	}
	p.store(f.event.next*4+3, t[3]&^cycleBit|f.event.cycle)
	if f.event.next++; f.event.next == ringTRBs {
		f.event.next = 0
		f.event.cycle ^= cycleBit
	}
	select {
	case f.kick <- struct{}{}:
	default:
	}
}
