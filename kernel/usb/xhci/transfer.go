package xhci

import (
	"fmt"
	"syscall"
	"time"

	"sonde/kernel/refusal"
	"sonde/kernel/usb"
)

// Control implements usb.Device: a TRB with the request, one with the data if there are any, and one for the
// status, which goes the other way.
func (d *device) Control(s usb.Setup, data []byte) (n int, err error) {
	if len(data) > usb.MaxTransfer {
		return 0, tooLong(len(data))
	}
	d.control.Lock()
	defer d.control.Unlock()
	p := d.pipes[1]
	const none, out, in = 0, 2, 3 // the data's direction
	setup := trb{
		uint32(s.Type) | uint32(s.Request)<<8 | uint32(s.Value)<<16, uint32(s.Index) | uint32(len(data))<<16, 8,
		trbSetup<<kindShift | immediate,
	}
	status := trb{3: trbStatus<<kindShift | onComplete | dirIn}
	all := []trb{setup, status}
	if len(data) > 0 {
		stage := at(p.data.PA, trbData, onShort)
		stage[2] = uint32(len(data))
		if s.In() {
			stage[3] |= dirIn
			status[3] &^= dirIn
			setup[3] |= in << 16
		} else {
			p.data.write(data)
			setup[3] |= out << 16
		}
		all = []trb{setup, stage, status}
	}
	moved, err := d.transfer(p, controlLimit, all, len(data))
	if err == nil && s.In() {
		p.data.read(data[:moved])
	}
	return moved, err
}

// Transfer implements usb.Device.
func (d *device) Transfer(e usb.Endpoint, data []byte, limit time.Duration) (n int, err error) {
	p := d.pipes[number(e)]
	if p == nil || len(data) > usb.MaxTransfer {
		return 0, tooLong(len(data))
	}
	if !e.In() {
		p.data.write(data)
	}
	t := at(p.data.PA, trbNormal, onComplete|onShort)
	t[2] = uint32(len(data))
	n, err = d.transfer(p, limit, []trb{t}, len(data))
	if err == nil && e.In() {
		p.data.read(data[:n])
	}
	return n, err
}

func tooLong(n int) error {
	return refusal.New(syscall.EINVAL, "xhci: transfer %d bytes: the endpoint is not configured, or there are more than %d", n, usb.MaxTransfer)
}

// transfer queues TRBs of a pipe and waits for the last, for limit unless that is 0. It returns how many of size bytes
// of data have moved: an event before the last says that not all have.
func (d *device) transfer(p *pipe, limit time.Duration, all []trb, size int) (moved int, err error) {
	select {
	case <-d.gone:
		return 0, usb.ErrGone
	case <-d.c.dead:
		return 0, usb.ErrGone
	default:
	}
	done, addresses := d.c.queue(p.ring, d.slot, p.number, all...)
	defer d.c.forget(addresses)
	var late <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		late = t.C
	}
	last := addresses[len(addresses)-1]
	for moved = size; ; {
		select {
		case t := <-done:
			if code := t.code(); code != codeSuccess && code != codeShort {
				return 0, d.recover(p, code)
			}
			if len(all) == 1 || t.pointer() != last { // the event of the status has no data to tell of
				moved = max(size-int(t[2]&0xffffff), 0)
			}
			if t.pointer() == last {
				return moved, nil
			}
		case <-late:
			d.endpoint(trbStopEndpoint, p, 0)
			d.endpoint(trbSetDequeue, p, p.dequeue())
			return 0, usb.ErrTimeout
		case <-d.gone:
			return 0, usb.ErrGone
		case <-d.c.dead:
			return 0, usb.ErrGone
		}
	}
}

// recover makes the controller's end of a pipe work again, which has halted with an error, and returns that.
func (d *device) recover(p *pipe, code uint32) error {
	d.endpoint(trbResetEndpoint, p, 0)
	d.endpoint(trbSetDequeue, p, p.dequeue())
	switch code {
	case codeStall:
		return usb.ErrStall
	case codeBabble:
		return fmt.Errorf("%w: the device sends more than it may", usb.ErrTransfer)
	case codeTransaction:
		return fmt.Errorf("%w: no packet or a damaged one", usb.ErrTransfer)
	}
	return fmt.Errorf("%w with code %d", usb.ErrTransfer, code)
}

// endpoint is a command about a pipe. What it cannot do the next transfer shows.
func (d *device) endpoint(kind uint32, p *pipe, dequeue uint64) {
	d.c.command(at(dequeue, kind, uint32(p.number)<<endpointShift|uint32(d.slot)<<slotShift))
}
