// Package usb runs the devices of a Universal Serial Bus: it asks each that is plugged in what it is, and has
// drivers for hubs and keyboards. What moves the bytes is a host controller's driver (kernel/usb/xhci).
//
// A device has up to 31 endpoints, each of which is a queue of packets in one direction. Endpoint 0 exists
// in every device and takes requests, which carry data in either direction. With them a driver reads
// the descriptors, which say what the device is and which other endpoints it has, and turns on one
// configuration of these.
//
// Each device has a goroutine of its own, which ends when the device is gone: all of its transfers return then.
// Nothing that a device says is believed without a look: descriptors may be short, long, or nonsense.
//
// Source: Universal Serial Bus Specification 2.0; Universal Serial Bus 3.2 Specification.
package usb

import (
	"errors"
	"time"
)

// How a transfer can fail.
var (
	// ErrGone: the device is not there any more, or its controller is not.
	ErrGone = errors.New("usb: the device is gone")
	// ErrStall: the device refuses the request, or the endpoint has halted, until ClearHalt.
	ErrStall = errors.New("usb: the device refuses (stall)")
	// ErrTimeout: no answer came in time.
	ErrTimeout = errors.New("usb: the device does not answer")
	// ErrTransfer: packets were damaged, longer than announced, or missing.
	ErrTransfer = errors.New("usb: transfer failed")
)

// Speed of a device's link, by the numbers that USB host controllers use.
type Speed uint8

const (
	Full      Speed = 1 + iota // 12 Mbit/s
	Low                        // 1.5 Mbit/s
	High                       // 480 Mbit/s
	Super                      // 5 Gbit/s
	SuperPlus                  // 10 Gbit/s
)

func (s Speed) String() string {
	if s < Full || s > SuperPlus {
		return "unknown"
	}
	return [...]string{"full", "low", "high", "super", "super-plus"}[s-1]
}

// A Setup is a request to endpoint 0. The length is that of the data.
type Setup struct {
	Type, Request uint8
	Value, Index  uint16
}

// In reports whether the data come from the device.
func (s Setup) In() bool { return s.Type&dirIn != 0 }

// An Endpoint is what its descriptor says.
type Endpoint struct {
	Address   uint8 // its number, and dirIn
	Kind      Kind
	MaxPacket uint16 // bytes
	Burst     uint8  // packets in a row, less one; only of Super
	Interval  uint8  // in units that depend on the speed
}

// Kind is what packets of an endpoint are for.
type Kind uint8

const (
	Control Kind = iota
	Isochronous
	Bulk
	Interrupt
)

const dirIn = 0x80

// In reports whether data come from the device.
func (e Endpoint) In() bool { return e.Address&dirIn != 0 }

// HubInfo is what a controller must know of a device that is a hub.
type HubInfo struct {
	Ports     int
	ThinkTime uint8 // of its transaction translators, as its descriptor has it
	MultiTT   bool  // there is a translator for each port, and it is turned on
}

// A Device is one that has an address. All methods may be called by several goroutines, but those about one endpoint
// by one at a time, except Control.
type Device interface {
	Speed() Speed
	// Control makes a request and returns how many bytes of data it moved. Data have at most MaxTransfer bytes.
	Control(s Setup, data []byte) (n int, err error)
	// SetMaxPacket sets the size of endpoint 0's packets, in bytes.
	SetMaxPacket(n uint16) error
	// Configure makes the controller ready for these endpoints; hub is nil if the device is none.
	Configure(endpoints []Endpoint, hub *HubInfo) error
	// Transfer moves up to MaxTransfer bytes, and waits for them without limit if that is 0.
	Transfer(e Endpoint, data []byte, limit time.Duration) (n int, err error)
	// Child returns the device at a hub's port, once reset has reset that. No other device is reset meanwhile.
	Child(port int, reset func() (Speed, error)) (Device, error)
	// Gone is closed when the device is.
	Gone() <-chan struct{}
	// Close ends all transfers and frees what the device has used.
	Close()
}

// MaxTransfer is how many bytes one transfer may move.
const MaxTransfer = 4096
