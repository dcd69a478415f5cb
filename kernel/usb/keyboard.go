package usb

import (
	"bytes"
	"errors"
	"time"
)

// A keyboard can speak a protocol that firmware understands: reports of eight bytes, of which the first has a bit
// for each modifier and the last six have the usages of the keys that are down.
//
// Source: Device Class Definition for Human Interface Devices 1.11, "Appendix B: Boot Interface Descriptors", "Class-Specific
// Requests".
const (
	reportBytes = 8
	firstKey    = 2 // in a report
	tooMany     = 1 // the usage that fills a report if more keys are down than it holds

	setReport, setIdle, setProtocol = 0x09, 0x0a, 0x0b
	outputReport                    = 2
	bootSubclass, keyboardProtocol  = 1, 1
	capsLight                       = 1 << 1
)

// A key that is held types again after repeatDelay, every repeatPeriod, as on Linux.
const (
	repeatDelay  = 250 * time.Millisecond
	repeatPeriod = 33 * time.Millisecond
)

func isKeyboard(i *iface) bool {
	_, ok := i.find(Interrupt, true)
	return ok && i.class == classHID && i.subclass == bootSubclass && i.protocol == keyboardProtocol
}

// A board is a keyboard.
type board struct {
	u      *Drivers
	d      Device
	iface  uint16
	in     Endpoint
	last   [reportBytes]byte
	held   chan byte     // the usage that is to be repeated, 0 for none
	lights chan struct{} // gets something when they may have changed
}

// newBoard makes the keyboard ready. It says nothing unless a key moves.
func newBoard(u *Drivers, d Device, c *config, i *iface) (*board, error) {
	k := &board{u: u, d: d, iface: uint16(i.number), held: make(chan byte), lights: make(chan struct{}, 1)}
	k.in, _ = i.find(Interrupt, true)
	if err := configure(d, c, nil, k.in); err != nil {
		return nil, err
	}
	if err := k.request(setProtocol, 0, nil); err != nil {
		return nil, err
	}
	if err := k.request(setIdle, 0, nil); err != nil && !errors.Is(err, ErrStall) { // some do not know it
		return nil, err
	}
	return k, nil
}

func (k *board) request(request uint8, value uint16, data []byte) error {
	_, err := k.d.Control(Setup{ofClass | toInterface, request, value, k.iface}, data)
	return err
}

// run types what the keyboard reports, until it is gone.
func (k *board) run(looked func()) {
	k.u.boards.Add(1)
	looked()
	k.u.mu.Lock()
	if k.u.lights == nil {
		k.u.lights = map[chan struct{}]struct{}{}
	}
	k.u.lights[k.lights] = struct{}{}
	k.u.mu.Unlock()
	attended := make(chan struct{})
	go k.attend(attended)
	defer func() {
		k.report(make([]byte, reportBytes)) // nothing is held any more
		k.u.mu.Lock()
		delete(k.u.lights, k.lights)
		k.u.mu.Unlock()
		k.u.boards.Add(-1)
		<-attended
	}()
	listen(k.d, k.in, "keyboard", func(b []byte) {
		if len(b) >= reportBytes {
			k.report(b[:reportBytes])
		}
	})
}

// report types what has changed since the last report.
func (k *board) report(r []byte) {
	keys, before := r[firstKey:], k.last[firstKey:]
	if bytes.IndexByte(keys, tooMany) >= 0 {
		return
	}
	for i := range byte(8) {
		if is := r[0] >> i & 1; is != k.last[0]>>i&1 {
			send(k.u.Type, modifiers+i, is == 0)
		}
	}
	hold, changed := byte(0), false
	for _, key := range before {
		if key != 0 && bytes.IndexByte(keys, key) < 0 {
			send(k.u.Type, key, true)
			changed = true
		}
	}
	for _, key := range keys {
		if key != 0 && bytes.IndexByte(before, key) < 0 {
			send(k.u.Type, key, false)
			hold, changed = key, true
		}
	}
	copy(k.last[:], r)
	if changed {
		select {
		case k.held <- hold:
		case <-k.d.Gone():
		}
	}
}

// attend repeats the key that is held, and sets the lights.
func (k *board) attend(done chan<- struct{}) {
	defer close(done)
	var again <-chan time.Time
	var key byte
	for {
		select {
		case key = <-k.held:
			again = nil
			if key != 0 && repeats(key) {
				again = time.After(repeatDelay)
			}
		case <-again:
			send(k.u.Type, key, false)
			again = time.After(repeatPeriod)
		case <-k.lights:
			lights := byte(0)
			if k.u.caps.Load() {
				lights = capsLight
			}
			k.request(setReport, outputReport<<8, []byte{lights})
		case <-k.d.Gone():
			return
		}
	}
}

// Lights says whether Caps Lock is on, for the lights of all keyboards.
func (u *Drivers) Lights(caps bool) {
	u.caps.Store(caps)
	u.mu.Lock()
	defer u.mu.Unlock()
	for l := range u.lights {
		select {
		case l <- struct{}{}:
		default: // it has not looked at the last change yet
		}
	}
}
