package xhci

import (
	"fmt"
	"time"

	"sonde/kernel/usb"
)

const (
	connectTime = 100 * time.Millisecond // until a port notices what has been plugged in all the time, and until contacts are steady
	portLimit   = time.Second            // of a port's reset
	portStep    = 10 * time.Millisecond
)

// Watch attaches what is plugged in, and detaches what is gone, until the controller fails. looked is called
// when all ports have been looked at once.
func (c *Controller) Watch(looked func()) {
	detach := make([]func(), c.ports+1)
	for port := 1; port <= c.ports; port++ {
		c.setPort(port, PP)
	}
	time.Sleep(connectTime)
	for {
		for port := 1; port <= c.ports; port++ {
			c.look(port, &detach[port])
		}
		looked()
		select {
		case <-c.changed:
		case <-c.dead:
			for _, f := range detach {
				if f != nil {
					f()
				}
			}
			return
		}
	}
}

func (c *Controller) portAt(port int) uint32 { return c.op + PORTSC + portBytes*uint32(port-1) }
func (c *Controller) port(port int) uint32   { return c.m.Read32(c.portAt(port)) }

// setPort sets bits of a port, and nothing else: writing some of those that are set would change it.
func (c *Controller) setPort(port int, bits uint32) {
	c.m.Write32(c.portAt(port), c.port(port)&keep|bits)
}

// look attaches or detaches what is at a port.
func (c *Controller) look(port int, detach *func()) {
	is := c.port(port)
	if is == ^uint32(0) {
		is = 0
		c.fail("it does not answer any more")
	}
	if is&changes != 0 {
		c.setPort(port, is&changes)
	}
	if *detach != nil && (is&CCS == 0 || is&CSC != 0) {
		(*detach)()
		*detach = nil
	}
	if is&CCS != 0 && *detach == nil {
		*detach = c.u.Attach(fmt.Sprintf("%s-%d", c.name, port), 0, func() (usb.Device, error) { return c.connect(port) })
	}
}

// connect resets the device at a port and gives it an address.
func (c *Controller) connect(port int) (usb.Device, error) {
	c.addressing.Lock()
	defer c.addressing.Unlock()
	time.Sleep(connectTime)
	speed, err := c.resetPort(port)
	if err != nil {
		return nil, err
	}
	return c.newDevice(place{port: port, speed: speed})
}

// resetPort resets a port. One of USB 3 has done that by itself.
func (c *Controller) resetPort(port int) (usb.Speed, error) {
	speed := func(is uint32) usb.Speed { return usb.Speed(is >> 10 & 15) }
	if is := c.port(port); is&PED == 0 || speed(is) < usb.Super {
		c.setPort(port, PR)
	}
	for waited := time.Duration(0); waited < portLimit; waited += portStep {
		time.Sleep(portStep)
		switch is := c.port(port); {
		case is&CCS == 0 || is == ^uint32(0):
			return 0, usb.ErrGone
		case is&(PED|PR) != PED:
		case speed(is) == 0 || speed(is) > usb.SuperPlus:
			return 0, fmt.Errorf("xhci: port %d has the unknown speed %d", port, speed(is))
		default:
			return speed(is), nil
		}
	}
	return 0, fmt.Errorf("xhci: port %d is not enabled %s after its reset", port, portLimit)
}
