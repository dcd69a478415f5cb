package usb

import (
	"encoding/binary"
	"fmt"
)

// Requests that every device knows.
//
// Source: Universal Serial Bus Specification 2.0, "Standard Device Requests".
const (
	toDevice, toInterface, toEndpoint = 0x00, 0x01, 0x02 // Setup.Type
	ofClass                           = 0x20

	getStatus, clearFeature, setFeature = 0, 1, 3
	getDescriptor, setConfiguration     = 6, 9
	setInterface                        = 11

	endpointHalt = 0 // a feature
)

// Kinds of descriptors.
const (
	ofDevice, ofConfig, ofString, ofInterface, ofEndpoint = 1, 2, 3, 4, 5
	ofCompanion                                           = 0x30 // of an endpoint of Super
)

const deviceBytes, configBytes = 18, 9

// identity is a device's descriptor.
type identity struct {
	class, protocol uint8
	vendor, product uint16
}

// iface is an interface: what a configuration offers to one driver.
type iface struct {
	number, alternate         uint8
	class, subclass, protocol uint8
	endpoints                 []Endpoint
}

// config is a configuration.
type config struct {
	value  uint8
	ifaces []iface
}

// identify reads the device's descriptor: first the beginning, which says how large packets of endpoint 0 are.
func identify(d Device) (id identity, err error) {
	var b [deviceBytes]byte
	const first = 8
	if n, err := descriptor(d, ofDevice, b[:first]); err != nil || n < first {
		return id, orShort(err, "device", n)
	}
	size := uint16(b[7])
	if d.Speed() >= Super {
		size = 1 << (b[7] & 15)
	}
	switch size {
	case 8, 16, 32, 64, 512:
	default:
		return id, fmt.Errorf("usb: the device descriptor says that packets have %d bytes, which cannot be", size)
	}
	if err := d.SetMaxPacket(size); err != nil {
		return id, err
	}
	if n, err := descriptor(d, ofDevice, b[:]); err != nil || n < deviceBytes {
		return id, orShort(err, "device", n)
	}
	return identity{b[4], b[6], binary.LittleEndian.Uint16(b[8:]), binary.LittleEndian.Uint16(b[10:])}, nil
}

func descriptor(d Device, kind uint16, b []byte) (n int, err error) {
	return d.Control(Setup{dirIn | toDevice, getDescriptor, kind << 8, 0}, b)
}

// orShort is err, or that a descriptor has only n bytes.
func orShort(err error, what string, n int) error {
	if err == nil {
		err = fmt.Errorf("usb: the %s descriptor ends after %d bytes", what, n)
	}
	return err
}

// readConfig reads the first configuration.
func readConfig(d Device) (config, error) {
	b := make([]byte, MaxTransfer)
	n, err := descriptor(d, ofConfig, b[:configBytes])
	if err != nil || n < configBytes {
		return config{}, orShort(err, "configuration", n)
	}
	total := min(max(int(binary.LittleEndian.Uint16(b[2:])), configBytes), len(b))
	if n, err = descriptor(d, ofConfig, b[:total]); err != nil || n < configBytes {
		return config{}, orShort(err, "configuration", n)
	}
	return parseConfig(b[:n]), nil
}

// parseConfig reads the descriptors in b, one after the other. What comes after one whose length cannot be is left out,
// and so are endpoints without an interface.
func parseConfig(b []byte) config {
	c := config{value: b[5]}
	var endpoint *Endpoint
	for len(b) >= 2 && b[0] >= 2 && int(b[0]) <= len(b) {
		d := b[:b[0]]
		b = b[len(d):]
		switch last := len(c.ifaces) - 1; {
		case d[1] == ofInterface && len(d) >= 9:
			c.ifaces = append(c.ifaces, iface{number: d[2], alternate: d[3], class: d[5], subclass: d[6], protocol: d[7]})
			endpoint = nil
		case d[1] == ofEndpoint && len(d) >= 7 && last >= 0:
			i := &c.ifaces[last]
			i.endpoints = append(i.endpoints, Endpoint{Address: d[2] & (dirIn | 15), Kind: Kind(d[3] & 3), MaxPacket: binary.LittleEndian.Uint16(d[4:]) & 0x7ff, Interval: d[6]})
			endpoint = &i.endpoints[len(i.endpoints)-1]
		case d[1] == ofCompanion && len(d) >= 6 && endpoint != nil:
			endpoint.Burst = min(d[2], 15)
		}
	}
	return c
}

// find returns the first endpoint of a kind and direction that could work.
func (i *iface) find(kind Kind, in bool) (Endpoint, bool) {
	for _, e := range i.endpoints {
		if e.Kind == kind && e.In() == in && e.Address&15 != 0 && e.MaxPacket != 0 {
			return e, true
		}
	}
	return Endpoint{}, false
}

// clearHalt lets a halted endpoint continue.
func clearHalt(d Device, e Endpoint) error {
	_, err := d.Control(Setup{toEndpoint, clearFeature, endpointHalt, uint16(e.Address)}, nil)
	return err
}
