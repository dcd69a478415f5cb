package usb

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sonde/kernel/kthread"
	"sonde/kernel/printk"
)

// Drivers runs devices. Its fields are set before the first is attached.
type Drivers struct {
	// Type gets what keyboards type, as codes of set 1 (kernel/keyboard); those of one key at once.
	Type func(codes ...byte)

	busy   atomic.Int32 // devices that are being looked at
	boards atomic.Int32 // keyboards that run
	caps   atomic.Bool

	mu     sync.Mutex
	lights map[chan struct{}]struct{} // guarded by mu: of each keyboard, to be told of
}

// Keyboards is how many keyboards there are.
func (u *Drivers) Keyboards() int { return int(u.boards.Load()) }

// Begin says that a controller is being started, and returns what says that its devices are known.
func (u *Drivers) Begin() (end func()) {
	u.busy.Add(1)
	return sync.OnceFunc(func() { u.busy.Add(-1) })
}

// Settle waits until all devices that are there have been looked at, or for limit.
func (u *Drivers) Settle(limit time.Duration) {
	const step = 10 * time.Millisecond
	for ; u.busy.Load() > 0 && limit > 0; limit -= step {
		time.Sleep(step)
	}
}

// tries is how often a device that fails at once is reset and tried again.
const tries = 3

// Attach runs the device that connect returns, at a port called where behind tier hubs, in a thread of its own.
// detach ends that, and returns when it has ended.
func (u *Drivers) Attach(where string, tier int, connect func() (Device, error)) (detach func()) {
	looked := u.Begin()
	stop := make(chan struct{})
	thread := kthread.Run("usb "+where, func() {
		defer looked()
		for try := 1; try <= tries; try++ {
			err := u.attempt(where, tier, connect, stop, looked)
			select {
			case <-stop:
				return
			default:
			}
			if err == nil || errors.Is(err, ErrGone) {
				return
			}
			printk.Warn("usb %s: %s (try %d of %d)", where, err.Error(), try, tries)
		}
	})
	return func() {
		close(stop)
		<-thread.Done()
	}
}

// attempt connects a device and runs it until it is gone, or stop is closed.
func (u *Drivers) attempt(where string, tier int, connect func() (Device, error), stop <-chan struct{}, looked func()) error {
	d, err := connect()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		select {
		case <-stop:
		case <-d.Gone():
		case <-ended:
		}
		d.Close()
	}()
	err = u.run(d, where, tier, looked)
	close(ended)
	<-closed
	return err
}

// run finds d's driver and runs that. It returns nil if d has worked, and is gone.
func (u *Drivers) run(d Device, where string, tier int, looked func()) error {
	id, err := identify(d)
	if err != nil {
		return err
	}
	c, err := readConfig(d)
	if err != nil {
		return err
	}
	what, start, err := u.driver(d, &id, &c, where, tier)
	if err != nil {
		return err
	}
	printk.Info("usb %s: %04x:%04x, %s speed: %s", where, id.vendor, id.product, d.Speed().String(), what)
	if start != nil {
		start(looked)
	}
	looked()
	<-d.Gone()
	return nil
}

const classHub, classHID = 9, 3

// driver makes d ready, and returns what it is, and what runs it until it is gone; nil if there is no driver.
func (u *Drivers) driver(d Device, id *identity, c *config, where string, tier int) (what string, start func(looked func()), err error) {
	if id.class == classHub {
		h, err := newHub(u, d, c, where, tier)
		if err != nil {
			return "", nil, err
		}
		return fmt.Sprintf("hub with %d ports", h.ports), h.run, nil
	}
	for i := range c.ifaces {
		if f := &c.ifaces[i]; isKeyboard(f) {
			k, err := newBoard(u, d, c, f)
			if err != nil {
				return "", nil, err
			}
			return "keyboard", k.run, nil
		}
	}
	return "no driver", nil, nil
}

// configure turns a configuration on, for these of its endpoints.
func configure(d Device, c *config, hub *HubInfo, endpoints ...Endpoint) error {
	if err := d.Configure(endpoints, hub); err != nil {
		return err
	}
	_, err := d.Control(Setup{toDevice, setConfiguration, uint16(c.value), 0}, nil)
	return err
}

// mostErrors is after how many failures in a row a device is given up.
const mostErrors = 8

// listen calls f with what an endpoint sends, until the device is gone. A transfer returns when there is something:
// nothing runs while there is not.
func listen(d Device, e Endpoint, what string, f func(b []byte)) {
	b := make([]byte, e.MaxPacket)
	for failed := 0; failed < mostErrors; {
		n, err := d.Transfer(e, b, 0)
		if err == nil {
			failed = 0
			f(b[:n])
			continue
		}
		if errors.Is(err, ErrStall) {
			clearHalt(d, e)
		}
		failed++
		select { // it may have been pulled out
		case <-time.After(time.Duration(failed) * 20 * time.Millisecond):
		case <-d.Gone():
			return
		}
	}
	printk.Warn("usb: a %s failed %d times in a row, and is given up", what, mostErrors)
	d.Close()
}
