package xhci

import (
	"fmt"
	"time"

	"sonde/kernel/usb"
)

// Interrupt acknowledges an interrupt. Serve must run after it. It returns whether the controller asked, which a shared
// pin does not say.
//
// Context: any.
func (c *Controller) Interrupt() (asked bool) {
	asked = c.m.Read32(c.run+IMAN)&pending != 0
	c.m.Write32(c.op+USBSTS, EINT|PCD)
	c.m.Write32(c.run+IMAN, enable|pending)
	return asked
}

// Serve passes on what has happened.
//
// Context: goroutine, one at a time.
func (c *Controller) Serve() {
	for c.drain() {
		// The controller interrupts again for what comes after this. It may have come before.
		c.write64(c.run+ERDP, c.events.at()|EHB)
	}
	if status := c.m.Read32(c.op + USBSTS); status == ^uint32(0) {
		c.fail("it does not answer any more")
	} else if status&(HSE|HCHalted) != 0 {
		c.fail(fmt.Sprintf("it has halted (status %#x)", status))
	}
}

// drain passes on the events that are there, and reports whether there were any. There are at most as
// many as the ring holds: more, and the controller could keep us for ever.
func (c *Controller) drain() (some bool) {
	for range ringTRBs {
		t, ok := c.events.get()
		if !ok {
			break
		}
		some = true
		switch t.kind() {
		case trbTransferEvent, trbCommandEvent:
			c.mu.Lock()
			if done := c.waiting[t.pointer()]; done != nil {
				delete(c.waiting, t.pointer())
				done <- t
			}
			c.mu.Unlock()
		case trbPortEvent:
			select {
			case c.changed <- struct{}{}:
			default: // all ports will be looked at
			}
		}
	}
	return some
}

// queue puts TRBs into a ring, rings the doorbell, and returns where the events about them will arrive.
func (c *Controller) queue(r *ring, slot, endpoint int, all ...trb) (done chan trb, addresses []uint64) {
	done = make(chan trb, len(all)) // each is reported once
	c.mu.Lock()
	for _, t := range all {
		pa := r.put(t)
		c.waiting[pa] = done
		addresses = append(addresses, pa)
	}
	c.mu.Unlock()
	c.doorbell(slot, endpoint)
	return done, addresses
}

// forget stops waiting for events about TRBs.
func (c *Controller) forget(addresses []uint64) {
	c.mu.Lock()
	for _, pa := range addresses {
		delete(c.waiting, pa)
	}
	c.mu.Unlock()
}

// command has the controller do something, and returns its answer.
func (c *Controller) command(t trb) (answer trb, err error) {
	c.commandMu.Lock()
	defer c.commandMu.Unlock()
	select {
	case <-c.dead:
		return answer, usb.ErrGone
	default:
	}
	done, addresses := c.queue(c.commands, 0, 0, t)
	defer c.forget(addresses)
	select {
	case answer = <-done:
		if code := answer.code(); code != codeSuccess {
			return answer, fmt.Errorf("xhci: command %d ended with code %d", t.kind(), code)
		}
		return answer, nil
	case <-c.dead:
		return answer, usb.ErrGone
	case <-time.After(commandLimit):
		c.fail(fmt.Sprintf("command %d has no answer within %s", t.kind(), commandLimit))
		return answer, usb.ErrGone
	}
}
