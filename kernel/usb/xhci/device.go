package xhci

import (
	"fmt"
	"math/bits"
	"sync"
	"time"

	"sonde/kernel/usb"
)

// place is where a device is.
type place struct {
	port    int    // of the controller
	route   uint32 // the ports of the hubs on the way, four bits each
	tier    int    // how many hubs those are
	hub     *device
	hubPort int
	speed   usb.Speed
}

// A device is one that has a slot, which is what the controller knows it by, and an address.
type device struct {
	c *Controller
	place
	slot    int
	out, in Page // contexts: the controller's, and those that a command hands over

	control lock             // one request at a time
	input   lock             // guards in
	pipes   [endpoints]*pipe // by number in the context; set before they are used

	// The hub of high speed that speaks to this one's slower speed, and its port; 0 if that is not needed.
	translator, translatorPort int

	gone   chan struct{}
	closed sync.Once
}

// endpoints is how many contexts of endpoints there are; 0 is none, and 1 that of endpoint 0.
const endpoints = 32

// A pipe is an endpoint that works: its ring, and a page for data.
type pipe struct {
	*ring
	data   Page
	number int
}

// Words of contexts.
//
// Source: "Slot Context", "Endpoint Context", "Input Control Context".
const (
	inAdd      = 1 // of the input: which contexts are handed over
	hubBit     = 1 << 26
	multiTT    = 1 << 25
	slotEntry  = 27 // bit from which on is the number of the last context
	toDevice   = 2  // kinds of endpoints: plus the Kind, and 4 if it sends
	errorCount = 3 << 1
)

// controlLimit is how long a request may take.
const controlLimit = 5 * time.Second

// newDevice gives the device that has been reset at a place a slot and an address.
func (c *Controller) newDevice(at place) (d *device, err error) {
	d = &device{c: c, place: at, control: make(lock, 1), input: make(lock, 1), gone: make(chan struct{})}
	for _, p := range []*Page{&d.out, &d.in} {
		if *p, err = c.m.Page(c.low); err != nil {
			return nil, err
		}
	}
	if h := at.hub; h != nil && at.speed < usb.High {
		if d.translator, d.translatorPort = h.translator, h.translatorPort; h.speed == usb.High {
			d.translator, d.translatorPort = h.slot, at.hubPort
		}
	}
	answer, err := c.command(trb{3: trbEnableSlot << kindShift})
	if err != nil {
		return nil, err
	}
	d.slot = int(answer[3] >> slotShift)
	c.mu.Lock()
	taken := d.slot == 0 || d.slot > c.slots || c.devices[d.slot] != nil
	if !taken {
		c.devices[d.slot] = d
		c.table.store64(2*d.slot, d.out.PA)
	}
	c.mu.Unlock()
	if taken {
		return nil, fmt.Errorf("xhci: the controller gives slot %d, which is taken or not there", d.slot)
	}
	if err := d.address(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// firstPacket is how large packets of endpoint 0 are, by speed, until the device has said so.
var firstPacket = [...]uint16{usb.Full: 8, usb.Low: 8, usb.High: 64, usb.Super: 512, usb.SuperPlus: 512}

// address hands over the slot and endpoint 0. The controller gives the device an address then.
func (d *device) address() error {
	if err := d.open(usb.Endpoint{MaxPacket: firstPacket[d.speed]}); err != nil {
		return err
	}
	d.setSlot(nil, 1)
	if err := d.hand(trbAddress, 1<<0|1<<1); err != nil {
		return err
	}
	time.Sleep(portStep) // it may take 2 ms
	return nil
}

// word is a word of a context in the input: of the slot, or of an endpoint by its number.
func (d *device) word(context, word int) int { return (context+1)*d.c.context + word }

// setSlot fills in the slot's context; last is the last of the endpoints.
func (d *device) setSlot(hub *usb.HubInfo, last int) {
	w := [3]uint32{d.route | uint32(d.speed)<<20 | uint32(last)<<slotEntry, uint32(d.port) << 16, uint32(d.translator) | uint32(d.translatorPort)<<8}
	if h := d.hub; d.translator != 0 && h != nil {
		for h.speed != usb.High {
			h = h.hub
		}
		w[0] |= h.in.load(h.word(0, 0)) & multiTT
	}
	if hub != nil {
		w[0] |= hubBit
		if hub.MultiTT {
			w[0] |= multiTT
		}
		w[1] |= uint32(hub.Ports) << 24
		w[2] |= uint32(hub.ThinkTime) << 16
	}
	for i, v := range w {
		d.in.store(d.word(0, i), v)
	}
}

// number is that of an endpoint's context.
func number(e usb.Endpoint) int {
	n := int(e.Address&15) * 2
	if e.In() || n == 0 {
		n++
	}
	return n
}

// open gives an endpoint a ring, and fills in its context.
func (d *device) open(e usb.Endpoint) error {
	ringPage, err := d.c.m.Page(d.c.low)
	if err != nil {
		return err
	}
	data, err := d.c.m.Page(d.c.low)
	if err != nil {
		return err
	}
	n := number(e)
	d.pipes[n] = &pipe{newRing(ringPage), data, n}
	kind := uint32(e.Kind)
	if e.In() || e.Kind == usb.Control {
		kind += 4
	}
	for i, v := range [5]uint32{
		interval(e, d.speed) << 16,
		errorCount | kind<<3 | uint32(e.Burst)<<8 | uint32(e.MaxPacket)<<16,
		uint32(ringPage.PA) | cycleBit, uint32(ringPage.PA >> 32),
		uint32(e.MaxPacket) | uint32(e.MaxPacket)*(uint32(e.Burst)+1)<<16,
	} {
		d.in.store(d.word(n, i), v)
	}
	return nil
}

// interval is how often an endpoint for interrupts is asked: 2^n times 125 µs.
func interval(e usb.Endpoint, speed usb.Speed) uint32 {
	switch {
	case e.Kind != usb.Interrupt:
		return 0
	case speed < usb.High: // it is in milliseconds
		return uint32(min(max(bits.Len(uint(e.Interval)*8), 4)-1, 10))
	}
	return uint32(min(max(int(e.Interval), 1), 16) - 1)
}

// hand gives the controller the contexts whose bits are set.
func (d *device) hand(kind, contexts uint32) error {
	d.in.store(inAdd, contexts)
	_, err := d.c.command(at(d.in.PA, kind, uint32(d.slot)<<slotShift))
	return err
}

// Speed implements usb.Device.
func (d *device) Speed() usb.Speed { return d.speed }

// Gone implements usb.Device.
func (d *device) Gone() <-chan struct{} { return d.gone }

// SetMaxPacket implements usb.Device.
func (d *device) SetMaxPacket(n uint16) error {
	d.input.Lock()
	defer d.input.Unlock()
	i := d.word(1, 1)
	if d.in.load(i)>>16 == uint32(n) {
		return nil
	}
	d.in.store(i, d.in.load(i)&0xffff|uint32(n)<<16)
	return d.hand(trbEvaluate, 1<<1)
}

// Configure implements usb.Device.
func (d *device) Configure(all []usb.Endpoint, hub *usb.HubInfo) error {
	d.input.Lock()
	defer d.input.Unlock()
	last, contexts := 1, uint32(1<<0)
	for _, e := range all {
		if err := d.open(e); err != nil {
			return err
		}
		last = max(last, number(e))
		contexts |= 1 << number(e)
	}
	d.setSlot(hub, last)
	return d.hand(trbConfigure, contexts)
}

// Child implements usb.Device.
func (d *device) Child(port int, reset func() (usb.Speed, error)) (usb.Device, error) {
	d.c.addressing.Lock()
	defer d.c.addressing.Unlock()
	speed, err := reset()
	if err != nil {
		return nil, err
	}
	return d.c.newDevice(place{port: d.port, route: d.route | uint32(port)<<(4*d.tier), tier: d.tier + 1, hub: d, hubPort: port, speed: speed})
}

// Close implements usb.Device.
func (d *device) Close() {
	d.closed.Do(func() {
		close(d.gone)
		_, err := d.c.command(trb{3: trbDisableSlot<<kindShift | uint32(d.slot)<<slotShift})
		if err != nil {
			return // the controller may still use the contexts and rings: they stay, with the slot
		}
		d.c.mu.Lock()
		d.c.table.store64(2*d.slot, 0)
		d.c.devices[d.slot] = nil
		d.c.mu.Unlock()
	})
}
