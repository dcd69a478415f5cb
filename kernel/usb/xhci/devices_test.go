package xhci

import (
	"sync"

	"sonde/kernel/usb"
)

// A fakeKeyboard is a device that sends the reports that it is given.
type fakeKeyboard struct {
	mu       sync.Mutex
	reports  [][]byte
	lights   []byte
	codes    []uint32 // what happens instead of the next reports
	ids      []byte   // the descriptor of the device
	config   []byte
	stalls   map[uint8]bool // by request
	requests int
}

var (
	keyboardID     = []byte{18, 1, 0, 2, 0, 0, 0, 64, 0x27, 6, 1, 0, 0, 0, 0, 0, 0, 1}
	keyboardConfig = []byte{9, 2, 34, 0, 1, 1, 0, 0xa0, 50, 9, 4, 0, 0, 1, 3, 1, 1, 0, 9, 0x21, 0x11, 1, 0, 1, 0x22, 63, 0, 7, 5, 0x81, 3, 8, 0, 10}
)

// deviceID is the descriptor of a keyboard of a speed, which has the size of packets as a power of two for Super.
func deviceID(speed usb.Speed) []byte {
	id := append([]byte(nil), keyboardID...)
	if speed == usb.Super {
		id[7] = 9
	}
	return id
}

func newKeyboard() *fakeKeyboard { return &fakeKeyboard{ids: keyboardID, config: keyboardConfig} }

func (k *fakeKeyboard) device(speed usb.Speed) *fakeDevice {
	return &fakeDevice{speed: speed, control: k.control, in: k.in}
}

func (k *fakeKeyboard) control(s usb.Setup, n int, data []byte) ([]byte, uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.requests++
	if k.stalls[s.Request] {
		return nil, codeStall
	}
	switch {
	case s.Request == 6 && s.Value>>8 == 1:
		return k.ids[:min(n, len(k.ids))], codeSuccess
	case s.Request == 6 && s.Value>>8 == 2:
		return k.config[:min(n, len(k.config))], codeSuccess
	case s.Request == 9 && s.Type == 0x21:
		k.lights = append(k.lights, data...)
	}
	return nil, codeSuccess
}

func (k *fakeKeyboard) in(_, n int) ([]byte, uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.codes) > 0 {
		code := k.codes[0]
		k.codes = k.codes[1:]
		return nil, code
	}
	if len(k.reports) == 0 {
		return nil, 0
	}
	r := k.reports[0]
	k.reports = k.reports[1:]
	return r[:min(n, len(r))], codeSuccess
}

// press has the keyboard report these keys, with modifiers.
func (f *fake) press(k *fakeKeyboard, modifiers byte, keys ...byte) {
	report := make([]byte, 8)
	report[0] = modifiers
	copy(report[2:], keys)
	k.mu.Lock()
	k.reports = append(k.reports, report)
	k.mu.Unlock()
	f.wake()
}

// A fakeHub is a hub whose ports have what its device's children are.
type fakeHub struct {
	*fakeDevice
	f       *fake
	mu      sync.Mutex
	status  map[int]uint16
	changed map[int]uint16
	ports   byte
}

func (f *fake) newHub(speed usb.Speed, ports byte) *fakeHub {
	h := &fakeHub{f: f, status: map[int]uint16{}, changed: map[int]uint16{}, ports: ports}
	h.fakeDevice = &fakeDevice{speed: speed, children: map[int]*fakeDevice{}, control: h.control, in: h.in}
	return h
}

// plug puts a device into a hub's port, or nil.
func (h *fakeHub) plug(port int, d *fakeDevice) {
	h.f.mu.Lock()
	h.children[port] = d
	h.f.mu.Unlock()
	h.mu.Lock()
	h.changed[port] |= 1
	h.status[port] = 0
	if d != nil {
		h.status[port] = 1
		switch d.speed {
		case usb.Low:
			h.status[port] |= 1 << 9
		case usb.High:
			h.status[port] |= 1 << 10
		}
	}
	h.mu.Unlock()
	h.f.wake()
}

func (h *fakeHub) control(s usb.Setup, n int, _ []byte) ([]byte, uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	port := int(s.Index)
	cut := func(b []byte) ([]byte, uint32) { return b[:min(n, len(b))], codeSuccess }
	switch {
	case s.Type == 0x80 && s.Request == 6 && s.Value>>8 == 1:
		return cut([]byte{18, 1, 0, 2, 9, 0, 1, 64, 9, 4, 0xaa, 0x55, 0, 0, 0, 0, 0, 1})
	case s.Type == 0x80 && s.Request == 6 && s.Value>>8 == 2:
		return cut([]byte{9, 2, 25, 0, 1, 1, 0, 0xe0, 0, 9, 4, 0, 0, 1, 9, 0, 0, 0, 7, 5, 0x81, 3, 2, 0, 12})
	case s.Type == 0xa0 && s.Request == 6:
		return cut([]byte{9, 0x29, h.ports, 0, 0, 1, 0, 0, 0xff})
	case s.Type == 0xa3 && s.Request == 0:
		return cut([]byte{byte(h.status[port]), byte(h.status[port] >> 8), byte(h.changed[port]), byte(h.changed[port] >> 8)})
	case s.Type == 0x23 && s.Request == 3 && s.Value == 4 && h.status[port]&1 != 0:
		h.status[port] |= 2
		h.changed[port] |= 1 << 4
	case s.Type == 0x23 && s.Request == 1 && s.Value >= 16 && s.Value < 21:
		h.changed[port] &^= 1 << (s.Value - 16)
	}
	return nil, codeSuccess
}

func (h *fakeHub) in(_, n int) ([]byte, uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := make([]byte, n)
	any := false
	for port, changed := range h.changed {
		if changed != 0 && port/8 < n {
			b[port/8] |= 1 << (port % 8)
			any = true
		}
	}
	if !any {
		return nil, 0
	}
	return b, codeSuccess
}
