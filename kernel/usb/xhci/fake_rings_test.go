package xhci

import (
	"sonde/kernel/usb"
)

// take takes the next TRB of a ring.
func (f *fake) take(r *fakeRing) (t trb, pa uint64, ok bool) {
	for {
		pa = r.at
		for k := range t {
			t[k] = f.word(pa + uint64(4*k))
		}
		if t[3]&cycleBit != r.cycle {
			return t, pa, false
		}
		if t.kind() != trbLink {
			r.at += trbBytes
			return t, pa, true
		}
		r.at = t.pointer()
		if t[3]&toggle != 0 {
			r.cycle ^= cycleBit
		}
	}
}

// ring is what a doorbell does. f.mu is held.
func (f *fake) ring(slot, endpoint int) {
	if slot == 0 {
		for t, pa, ok := f.take(&f.command); ok; t, pa, ok = f.take(&f.command) {
			f.do(t, pa)
		}
	} else if s := f.slots[slot]; s != nil && endpoint < endpoints {
		f.transfer(slot, s, endpoint)
	}
}

// do does a command.
func (f *fake) do(t trb, pa uint64) {
	kind, slot, code := t.kind(), int(t[3]>>slotShift), uint32(codeSuccess)
	if kind == f.faults.deafCommand {
		return
	}
	s := f.slots[slot]
	endpoint := int(t[3] >> endpointShift & 31)
	switch kind {
	case trbEnableSlot:
		for slot = 1; f.slots[slot] != nil; slot++ {
		}
		f.slots[slot] = &fakeSlot{}
		if f.faults.slot != 0 {
			slot = int(f.faults.slot)
		}
	case trbDisableSlot:
		delete(f.slots, slot)
	case trbAddress, trbConfigure, trbEvaluate:
		code = f.takeContexts(s, kind, t.pointer())
	case trbResetEndpoint:
		s.halted[endpoint] = false
	case trbSetDequeue:
		s.rings[endpoint] = fakeRing{t.pointer() &^ 15, t[0] & 1}
	}
	if f.faults.code != nil && f.faults.code(kind) != 0 {
		code = f.faults.code(kind)
	}
	f.post(trb{uint32(pa), uint32(pa >> 32), code << 24, trbCommandEvent<<kindShift | uint32(slot)<<slotShift})
}

// takeContexts reads the contexts that a command hands over.
func (f *fake) takeContexts(s *fakeSlot, kind uint32, pa uint64) uint32 {
	if s == nil {
		return 11 // the slot is not enabled
	}
	size := uint64(32)
	if f.wide {
		size = 64
	}
	add := f.word(pa + 4)
	if add&1 != 0 {
		w := [3]uint32{f.word(pa + size), f.word(pa + size + 4), f.word(pa + size + 8)}
		s.route, s.speed, s.port = w[0]&0xfffff, usb.Speed(w[0]>>20&15), int(w[1]>>16&0xff)
		s.ttSlot, s.isHub, s.hubPorts = int(w[2]&0xff), w[0]&hubBit != 0, int(w[1]>>24)
	}
	for n := 1; n < endpoints; n++ {
		if add>>n&1 == 0 {
			continue
		}
		at := pa + uint64(n+1)*size
		if n == 1 {
			s.packet = f.word(at+4) >> 16
		}
		if kind != trbEvaluate {
			s.rings[n] = fakeRing{f.long(at+8) &^ 15, f.word(at+8) & 1}
		}
	}
	if kind == trbAddress {
		if s.port >= len(f.ports) || f.ports[s.port] == nil {
			return codeTransaction
		}
		s.device = f.ports[s.port]
		for route := s.route; route != 0 && s.device != nil; route >>= 4 {
			s.device = s.device.children[int(route&15)]
		}
		if s.device == nil || s.device.speed != s.speed {
			return codeTransaction
		}
	}
	return codeSuccess
}

// transfer moves what an endpoint can move.
func (f *fake) transfer(slot int, s *fakeSlot, n int) {
	r := &s.rings[n]
	if r.at == 0 || s.halted[n] {
		return
	}
	if n == 1 {
		f.controls(slot, s)
		return
	}
	for {
		before := *r
		t, pa, ok := f.take(r)
		if !ok {
			return
		}
		size := int(t[2] & 0x1ffff)
		b, code := s.device.in(n, size)
		if code == 0 {
			*r = before
			return
		}
		f.give(slot, s, n, t, pa, b, size, code)
		if s.halted[n] {
			return
		}
	}
}

// give ends a transfer with b, and a code.
func (f *fake) give(slot int, s *fakeSlot, n int, t trb, pa uint64, b []byte, size int, code uint32) {
	b = b[:min(len(b), size)]
	if len(b) > 0 {
		f.page(t.pointer()).write(b)
	}
	if code == codeSuccess && len(b) < size {
		code = codeShort
	}
	if code != codeSuccess && code != codeShort {
		s.halted[n] = true
	}
	f.post(trb{uint32(pa), uint32(pa >> 32), code<<24 | uint32(size-len(b)), trbTransferEvent<<kindShift | uint32(slot)<<slotShift | uint32(n)<<endpointShift})
}

// controls does the requests that are queued.
func (f *fake) controls(slot int, s *fakeSlot) {
	r := &s.rings[1]
	for {
		t, _, ok := f.take(r)
		if !ok {
			return
		}
		setup := usb.Setup{Type: uint8(t[0]), Request: uint8(t[0] >> 8), Value: uint16(t[0] >> 16), Index: uint16(t[1])}
		size := int(t[1] >> 16)
		stage, pa, ok := f.take(r)
		if !ok || t.kind() != trbSetup {
			panic("a request is not whole")
		}
		var data []byte
		if stage.kind() == trbData && !setup.In() {
			data = make([]byte, size)
			f.page(stage.pointer()).read(data)
		}
		b, code := s.device.control(setup, size, data)
		if code == never {
			return
		}
		if stage.kind() == trbData {
			if !setup.In() {
				b = data
			}
			if code != codeSuccess || len(b) < size {
				f.give(slot, s, 1, stage, pa, b, size, code)
			} else if len(b) > 0 && setup.In() {
				f.page(stage.pointer()).write(b[:size])
			}
			if s.halted[1] {
				return
			}
			if stage, pa, ok = f.take(r); !ok {
				panic("a request is not whole")
			}
		}
		f.give(slot, s, 1, trb{}, pa, nil, 0, code)
		if s.halted[1] {
			return
		}
	}
}

// wake lets endpoints look again for what they have to send.
func (f *fake) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for slot, s := range f.slots {
		for n := 2; n < endpoints; n++ {
			if s.device != nil {
				f.transfer(slot, s, n)
			}
		}
	}
}
