package usb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Source: Universal Serial Bus Specification 2.0, "Hub Specification"; Universal Serial Bus 3.2 Specification, "Hub, Host
// Downstream Port, and Device Upstream Port Specification".
const (
	toPort = 0x03 // Setup.Type

	hubDescriptor, superHubDescriptor = 0x29, 0x2a
	setHubDepth                       = 12
	multiTT                           = 2 // the protocol of such an interface

	portReset, portPower = 4, 8 // features of ports
	connectionChange     = 1    // a bit of changes

	connected, enabled, resetting = 1 << 0, 1 << 1, 1 << 4 // bits of the status
	lowSpeed, highSpeed           = 1 << 9, 1 << 10

	maxPorts = 15 // that a route can name
	maxTier  = 5  // hubs in a row

	debounce   = 100 * time.Millisecond
	resetLimit = time.Second
)

// changes are the features that clear the bits in the second half of a port's status: connection, enabled, suspended,
// current, reset; and of Super a warm reset, the link's state, its configuration.
var changes = [...]uint16{16, 17, 18, 19, 20, 29, 25, 26}

// A hub is a device with ports.
type hub struct {
	u      *Drivers
	d      Device
	where  string
	tier   int
	ports  int
	power  time.Duration // until ports have power
	in     Endpoint      // tells which ports have changed
	detach [maxPorts + 1]func()
}

// newHub makes a hub ready.
func newHub(u *Drivers, d Device, c *config, where string, tier int) (*hub, error) {
	if tier >= maxTier {
		return nil, fmt.Errorf("usb: the hub is behind %d others; more than %d in a row are not allowed", tier, maxTier)
	}
	h := &hub{u: u, d: d, where: where, tier: tier}
	var i *iface
	for n := range c.ifaces {
		if in, ok := c.ifaces[n].find(Interrupt, true); ok && (i == nil || c.ifaces[n].protocol == multiTT) {
			i, h.in = &c.ifaces[n], in
		}
	}
	if i == nil {
		return nil, errors.New("usb: the hub has no endpoint that tells of changes")
	}
	kind := uint16(hubDescriptor)
	if d.Speed() >= Super {
		kind = superHubDescriptor
	}
	var b [8]byte
	n, err := d.Control(Setup{dirIn | ofClass | toDevice, getDescriptor, kind << 8, 0}, b[:])
	if err != nil || n < 7 {
		return nil, orShort(err, "hub", n)
	}
	h.ports = min(int(b[2]), maxPorts)
	h.power = time.Duration(b[5]) * 2 * time.Millisecond
	info := &HubInfo{Ports: h.ports, ThinkTime: b[3] >> 5 & 3, MultiTT: i.protocol == multiTT}
	if err := configure(d, c, info, h.in); err != nil {
		return nil, err
	}
	if i.alternate != 0 {
		if _, err := d.Control(Setup{toInterface, setInterface, uint16(i.alternate), uint16(i.number)}, nil); err != nil {
			return nil, err
		}
	}
	if d.Speed() >= Super {
		if _, err := d.Control(Setup{ofClass | toDevice, setHubDepth, uint16(tier), 0}, nil); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// run looks at the ports, and again at those that the hub reports, until it is gone.
func (h *hub) run(looked func()) {
	defer h.detachAll()
	for port := 1; port <= h.ports; port++ {
		h.feature(setFeature, portPower, port)
	}
	time.Sleep(h.power)
	for port := 1; port <= h.ports; port++ {
		h.look(port)
	}
	looked()
	listen(h.d, h.in, "hub", func(b []byte) {
		for port := 1; port <= h.ports && port/8 < len(b); port++ {
			if b[port/8]>>(port%8)&1 != 0 {
				h.look(port)
			}
		}
	})
}

// detachAll ends the devices at all ports.
func (h *hub) detachAll() {
	for _, detach := range h.detach {
		if detach != nil {
			detach()
		}
	}
}

func (h *hub) feature(request uint8, feature uint16, port int) error {
	_, err := h.d.Control(Setup{ofClass | toPort, request, feature, uint16(port)}, nil)
	return err
}

// status reads what a port is, and what has changed.
func (h *hub) status(port int) (is, changed uint16, err error) {
	var b [4]byte
	n, err := h.d.Control(Setup{dirIn | ofClass | toPort, getStatus, 0, uint16(port)}, b[:])
	if err == nil && n < len(b) {
		err = orShort(nil, "port", n)
	}
	return binary.LittleEndian.Uint16(b[:]), binary.LittleEndian.Uint16(b[2:]), err
}

// look attaches what has been plugged in at a port, and detaches what is gone.
func (h *hub) look(port int) {
	is, changed, err := h.status(port)
	if err != nil {
		return
	}
	h.acknowledge(port, changed)
	if h.detach[port] != nil && (is&connected == 0 || changed&connectionChange != 0) {
		h.detach[port]()
		h.detach[port] = nil
	}
	if is&connected != 0 && h.detach[port] == nil {
		h.detach[port] = h.u.Attach(fmt.Sprintf("%s.%d", h.where, port), h.tier+1, func() (Device, error) {
			return h.d.Child(port, func() (Speed, error) { return h.reset(port) })
		})
	}
}

// acknowledge clears what a port says has changed: it would say so again.
func (h *hub) acknowledge(port int, changed uint16) {
	for bit, feature := range changes {
		if changed>>bit&1 != 0 {
			h.feature(clearFeature, feature, port)
		}
	}
}

// reset resets the device at a port.
func (h *hub) reset(port int) (Speed, error) {
	time.Sleep(debounce)
	if err := h.feature(setFeature, portReset, port); err != nil {
		return 0, err
	}
	const step = 10 * time.Millisecond
	for waited := time.Duration(0); waited < resetLimit; waited += step {
		time.Sleep(step)
		is, _, err := h.status(port)
		switch {
		case err != nil:
			return 0, err
		case is&connected == 0:
			return 0, ErrGone
		case is&resetting != 0 || is&enabled == 0:
		case h.d.Speed() >= Super:
			return Super, nil
		case is&lowSpeed != 0:
			return Low, nil
		case is&highSpeed != 0:
			return High, nil
		default:
			return Full, nil
		}
	}
	return 0, fmt.Errorf("usb: port %d is not enabled %s after its reset", port, resetLimit)
}
