// Package xhci drives a controller of the eXtensible Host Controller Interface, the one kind of USB controller that
// PCs have had since about 2012.
//
// Driver and controller talk through memory. The driver puts TRBs (transfer request blocks, 16 bytes) into rings: one
// for commands to the controller, and one for each endpoint of each device. Writing a doorbell register makes the
// controller look. It puts what has happened into the ring of events, and interrupts. What a device is, its speed,
// its place, its endpoints, is in contexts, which a command hands over.
//
// New looks at a controller, Start brings it to life, Interrupt acknowledges an interrupt, and Serve, in a goroutine,
// passes each event to whoever waits for it. A goroutine looks after the ports, and each device has one (package usb).
// If nothing happens on the bus, none of them runs.
//
// A controller that stops answering fails all transfers, and is left alone.
//
// Source: eXtensible Host Controller Interface for Universal Serial Bus 1.2.
package xhci

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"sonde/kernel/printk"
	"sonde/kernel/usb"
)

// A Machine is what the driver needs of the machine around the controller.
type Machine interface {
	// Read32 and Write32 access the register at an offset in bytes. Where none is, all bits read as 1.
	Read32(offset uint32) uint32
	Write32(offset, v uint32)
	// Page returns a page of zeroes that stays where it is while anything points to it; low: below 4 GiB.
	Page(low bool) (Page, error)
}

// A Controller is one that has been started.
type Controller struct {
	m    Machine
	name string
	u    *usb.Drivers

	// Written once by New:
	op, run, doorbells uint32 // where groups of registers begin
	ports, slots       int
	low                bool // addresses have 32 bits
	context            int  // words of a context

	// Written once by Start:
	table   Page // the devices' contexts, by slot
	scratch []Page

	events    events // Serve's
	commandMu lock
	commands  *ring // guarded by commandMu

	addressing lock // held while a device has no address: it listens to that of all such devices

	mu      sync.Mutex
	waiting map[uint64]chan trb // guarded by mu: who waits for an event about the TRB at an address
	devices []*device           // guarded by mu: by slot
	changed chan struct{}       // a port has changed
	dead    chan struct{}       // closed when the controller does not answer any more
	died    sync.Once
}

// A lock is a mutex that is held while its holder waits for the bus. In tests, time passes for whoever waits for it.
type lock chan struct{}

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

// Limits of waiting; together they are below five seconds.
const (
	firmwareLimit = time.Second
	haltLimit     = 500 * time.Millisecond
	resetLimit    = time.Second
	commandLimit  = time.Second
)

var errSilent = errors.New("xhci: the controller does not answer")

// New returns the controller on m, which it has only looked at.
//
// Errors: what cannot be right.
func New(m Machine, name string, u *usb.Drivers) (*Controller, error) {
	c := &Controller{m: m, name: name, u: u, commandMu: make(lock, 1), addressing: make(lock, 1), waiting: map[uint64]chan trb{}, changed: make(chan struct{}, 1), dead: make(chan struct{})}
	return c, c.measure()
}

// Start takes the controller from firmware, resets it, and makes it run. It may interrupt from then on; it must be
// ready to, since some look only now how they are to do that. Watch attaches its devices.
//
// Errors: what did not happen in time; the controller is then halted, if it can be.
func (c *Controller) Start() error {
	c.takeOver()
	if err := c.reset(); err != nil {
		return err
	}
	if err := c.program(); err != nil {
		return err
	}
	c.m.Write32(c.op+USBCMD, RunStop|INTE)
	if !c.await(c.op+USBSTS, HCHalted, 0, haltLimit) {
		return fmt.Errorf("xhci: the controller does not start within %s", haltLimit)
	}
	return nil
}

// measure reads what the controller is.
func (c *Controller) measure() error {
	length := c.m.Read32(CAPLENGTH)
	if length == ^uint32(0) {
		return errSilent
	}
	params := c.m.Read32(HCSPARAMS1)
	c.ports, c.slots = int(params>>24), int(params&0xff)
	can := c.m.Read32(HCCPARAMS1)
	c.low = can&AC64 == 0
	c.context = 8
	if can&CSZ != 0 {
		c.context = 16
	}
	c.op = length & 0xff
	c.doorbells, c.run = c.m.Read32(DBOFF)&^3, c.m.Read32(RTSOFF)&^31
	if c.ports == 0 || c.slots == 0 || c.m.Read32(c.op+PAGESIZE)&1 == 0 {
		return fmt.Errorf("xhci: the controller has %d ports and %d slots, and pages %#x: this cannot be used", c.ports, c.slots, c.m.Read32(c.op+PAGESIZE))
	}
	c.devices = make([]*device, c.slots+1)
	return nil
}

// await waits until the bits of mask in a register are want.
func (c *Controller) await(register, mask, want uint32, limit time.Duration) bool {
	const step = time.Millisecond
	for ; limit > 0; limit -= step {
		if v := c.m.Read32(register); v != ^uint32(0) && v&mask == want {
			return true
		}
		time.Sleep(step)
	}
	return false
}

// takeOver asks firmware for the controller, which it may use to imitate a PS/2 keyboard.
//
// Source: "USB Legacy Support Capability".
func (c *Controller) takeOver() {
	next := c.m.Read32(HCCPARAMS1) >> 16
	const most = 64 // in a list that may be a loop
	for at, n := next*4, 0; next != 0 && n < most; at, n = at+next*4, n+1 {
		head := c.m.Read32(at)
		if head == ^uint32(0) {
			return
		}
		if head&0xff == USBLEGSUP {
			c.m.Write32(at, head|osOwned)
			if !c.await(at, biosOwned, 0, firmwareLimit) {
				printk.Warn("xhci %s: firmware does not hand over the controller within %s; it is taken", c.name, firmwareLimit.String())
				c.m.Write32(at, c.m.Read32(at)&^biosOwned|osOwned)
			}
			c.m.Write32(at+4, c.m.Read32(at+4)&^smiEnables|smiEvents)
		}
		next = head >> 8 & 0xff
	}
}

// reset halts the controller and resets it.
func (c *Controller) reset() error {
	c.m.Write32(c.op+USBCMD, c.m.Read32(c.op+USBCMD)&^(RunStop|INTE))
	if !c.await(c.op+USBSTS, HCHalted, HCHalted, haltLimit) {
		return fmt.Errorf("xhci: the controller does not halt within %s", haltLimit)
	}
	c.m.Write32(c.op+USBCMD, HCRST)
	if !c.await(c.op+USBCMD, HCRST, 0, resetLimit) || !c.await(c.op+USBSTS, CNR, 0, resetLimit) {
		return fmt.Errorf("xhci: the controller is not ready within %s after its reset", resetLimit)
	}
	return nil
}

// program gives the controller its memory.
func (c *Controller) program() error {
	var pages [4]Page
	for i := range pages {
		p, err := c.m.Page(c.low)
		if err != nil {
			return err
		}
		pages[i] = p
	}
	c.table, c.commands, c.events = pages[0], newRing(pages[1]), events{Page: pages[2], cycle: cycleBit}
	if err := c.giveScratch(); err != nil {
		return err
	}
	c.m.Write32(c.op+CONFIG, uint32(c.slots))
	c.write64(c.op+DCBAAP, c.table.PA)
	c.write64(c.op+CRCR, c.commands.PA|cycleBit)
	segments := &pages[3] // of the ring of events: the address of one, and how many TRBs it has
	segments.store64(0, c.events.PA)
	segments.store(2, ringTRBs)
	c.scratch = append(c.scratch, *segments)
	c.m.Write32(c.run+ERSTSZ, 1)
	c.write64(c.run+ERDP, c.events.PA)
	c.write64(c.run+ERSTBA, segments.PA)
	c.m.Write32(c.run+IMOD, moderation)
	c.m.Write32(c.run+IMAN, enable|pending)
	return nil
}

// giveScratch gives the controller the pages that it wants for itself.
func (c *Controller) giveScratch() error {
	params := c.m.Read32(HCSPARAMS2)
	n := int(params>>21&0x1f<<5 | params>>27)
	if n == 0 {
		return nil
	}
	if n > pageBytes/8 {
		return fmt.Errorf("xhci: the controller wants %d pages for itself, more than %d", n, pageBytes/8)
	}
	for range n + 1 {
		p, err := c.m.Page(c.low)
		if err != nil {
			return err
		}
		c.scratch = append(c.scratch, p)
	}
	for i, p := range c.scratch[1:] {
		c.scratch[0].store64(2*i, p.PA)
	}
	c.table.store64(0, c.scratch[0].PA)
	return nil
}

func (c *Controller) write64(register uint32, v uint64) {
	c.m.Write32(register, uint32(v))
	c.m.Write32(register+4, uint32(v>>32))
}

// doorbell makes the controller look at the ring of a slot's endpoint; slot 0 has that of the commands.
func (c *Controller) doorbell(slot, endpoint int) {
	c.m.Write32(c.doorbells+4*uint32(slot), uint32(endpoint))
}

// Works reports whether the controller still does.
func (c *Controller) Works() bool {
	select {
	case <-c.dead:
		return false
	default:
		return true
	}
}

// fail gives the controller up: all transfers end, and no new ones begin.
func (c *Controller) fail(why string) {
	c.died.Do(func() {
		printk.Warn("xhci %s: %s; the controller is given up", c.name, why)
		c.m.Write32(c.op+USBCMD, 0)
		close(c.dead)
	})
}
