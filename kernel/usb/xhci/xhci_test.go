package xhci

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/kernel/keyboard"
	"sonde/kernel/kthread"
	"sonde/kernel/usb"
)

// A run is a driver that runs on a fake, and what keyboards have typed.
type run struct {
	*fake
	c     *Controller
	u     *usb.Drivers
	mu    sync.Mutex
	codes []byte
	ended chan struct{}
}

// drive starts the driver on f.
func drive(f *fake) (*run, error) {
	r := &run{fake: f, ended: make(chan struct{})}
	r.u = &usb.Drivers{Type: func(codes ...byte) {
		r.mu.Lock()
		r.codes = append(r.codes, codes...)
		r.mu.Unlock()
	}}
	c, err := New(f, "1", r.u)
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	r.c = c
	go func() {
		for {
			select {
			case <-f.kick:
				c.Interrupt()
				c.Serve()
			case <-c.dead:
				return
			}
		}
	}()
	go func() {
		c.Watch(func() {})
		close(r.ended)
	}()
	return r, nil
}

// mustDrive is drive of a fake that works.
func mustDrive(t *testing.T, f *fake) *run {
	t.Helper()
	r, err := drive(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// settle waits until everything has happened that will.
func (r *run) settle() {
	time.Sleep(20 * time.Second)
	synctest.Wait()
}

// typed returns what has been typed since the last call, by a layout.
func (r *run) typed(t *testing.T) (text string) {
	t.Helper()
	synctest.Wait()
	var k keyboard.Keyboard
	if err := k.SetLayout("us"); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.codes {
		text += k.Code(c)
	}
	r.codes = nil
	return text
}

// end pulls everything out, and checks that nothing is left.
func (r *run) end(t *testing.T) {
	t.Helper()
	for port := 1; port < len(r.ports); port++ {
		r.plug(port, nil)
	}
	r.settle()
	r.fake.mu.Lock()
	if len(r.slots) != 0 {
		t.Errorf("the controller still has %d slots", len(r.slots))
	}
	r.fake.mu.Unlock()
	r.c.mu.Lock()
	for slot, d := range r.c.devices {
		if d != nil || slot > 0 && r.c.table.load(2*slot) != 0 {
			t.Errorf("slot %d is not free", slot)
		}
	}
	if len(r.c.waiting) != 0 {
		t.Errorf("%d events are waited for", len(r.c.waiting))
	}
	r.c.mu.Unlock()
	if n := r.u.Keyboards(); n != 0 {
		t.Errorf("%d keyboards are left", n)
	}
	r.stop()
	for _, task := range kthread.Tasks() {
		if strings.HasPrefix(task.Name, "usb ") && task.State == kthread.Panicked {
			t.Errorf("%s panicked: %+v", task.Name, task)
		}
	}
}

func (r *run) stop() {
	r.c.fail("the test ends")
	<-r.ended
	synctest.Wait()
}

// TestKeyboards: at each speed, with contexts of each size, and whatever firmware and the controller want.
func TestKeyboards(t *testing.T) {
	for i, speed := range []usb.Speed{usb.Low, usb.Full, usb.High, usb.Super} {
		t.Run(speed.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(4)
				f.wide, f.scratch, f.owned = i%2 == 1, uint32(i), i > 1
				k := newKeyboard()
				k.ids = deviceID(speed)
				f.plug(3, k.device(speed))
				r := mustDrive(t, f)
				r.settle()
				if r.u.Keyboards() != 1 || f.owned {
					t.Fatalf("%d keyboards, and firmware owns the controller: %v", r.u.Keyboards(), f.owned)
				}
				f.press(k, 0, 4)    // a
				f.press(k, 2, 4, 5) // and B
				f.press(k, 0, 5)    // a and Shift are released
				f.press(k, 0)       //
				f.press(k, 0, 0x52) // up
				f.press(k, 0)       //
				f.press(k, 1, 6)    // Ctrl-C
				f.press(k, 0, 8)
				f.press(k, 0, 1, 1, 1, 1, 1, 1) // more keys than fit say nothing
				f.press(k, 0, 8)
				f.press(k, 0)
				if got := r.typed(t); got != "aB\x1b[A\x03e" {
					t.Errorf("typed %q", got)
				}
				for range 2 * ringTRBs { // each ring comes around
					f.press(k, 0, 9)
					synctest.Wait()
					f.press(k, 0)
					synctest.Wait()
				}
				if got := r.typed(t); got != strings.Repeat("f", 2*ringTRBs) {
					t.Errorf("typed %d of %d letters", len(got), 2*ringTRBs)
				}
				// Another one, before anybody has looked.
				k.reports = nil
				r.plug(3, nil)
				k = newKeyboard()
				k.ids = deviceID(speed)
				r.plug(3, k.device(speed))
				r.settle()
				f.press(k, 0, 10)
				f.press(k, 0)
				if got := r.typed(t); got != "g" {
					t.Errorf("typed %q on another keyboard", got)
				}
				r.u.Lights(true)
				synctest.Wait()
				r.u.Lights(false)
				synctest.Wait()
				if !bytes.Equal(k.lights, []byte{2, 0}) {
					t.Errorf("lights %v", k.lights)
				}
				r.end(t)
			})
		})
	}
}

// TestRepeat: a key that is held types again, after a while and then quickly; not a modifier, and not once another is released.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFake(1), newKeyboard()
		f.plug(1, k.device(usb.Full))
		r := mustDrive(t, f)
		r.settle()
		f.press(k, 0, 4)
		time.Sleep(240 * time.Millisecond)
		if got := r.typed(t); got != "a" {
			t.Errorf("typed %q in the first quarter of a second", got)
		}
		time.Sleep(time.Second)
		if got := r.typed(t); len(got) < 25 || strings.Trim(got, "a") != "" {
			t.Errorf("typed %q in the next second", got)
		}
		f.press(k, 0)
		f.press(k, 2)
		time.Sleep(5 * time.Second)
		if got := r.typed(t); got != "" {
			t.Errorf("typed %q after the release", got)
		}
		// Pulled out with a key held: it is released.
		f.press(k, 2, 4)
		synctest.Wait()
		r.plug(1, nil)
		r.settle()
		if !bytes.HasSuffix(r.codes, []byte{0xaa, 0x9e}) {
			t.Errorf("codes %x do not end with releases", r.codes)
		}
		r.end(t)
	})
}

// TestHubs: five hubs in a row work, and a sixth does not. What is slow behind a fast hub is spoken to by that.
func TestHubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(2)
		first := f.newHub(usb.High, 4)
		hub := first
		for tier := 1; tier < 6; tier++ {
			inner := f.newHub(usb.High, 4)
			hub.plug(2, inner.fakeDevice)
			hub = inner
			if tier == 4 {
				k := newKeyboard()
				hub.plug(3, k.device(usb.Low))
			}
		}
		beyond := newKeyboard()
		hub.plug(1, beyond.device(usb.Full))
		f.plug(1, first.fakeDevice)
		r := mustDrive(t, f)
		r.settle()
		if n := r.u.Keyboards(); n != 1 {
			t.Errorf("%d keyboards, want that behind five hubs and not that behind six", n)
		}
		if beyond.requests != 0 {
			t.Errorf("the device behind six hubs got %d requests", beyond.requests)
		}
		slow, hubs := 0, 0
		for _, s := range f.slots {
			if s.isHub {
				hubs++
			}
			if s.speed == usb.Low {
				slow++
				if hub := f.slots[s.ttSlot]; s.route != 0x32222 || hub == nil || hub.route != 0x2222 || !hub.isHub || hub.hubPorts != 4 {
					t.Errorf("route %x, by the hub in slot %d", s.route, s.ttSlot)
				}
			}
		}
		if slow != 1 || hubs != 5 {
			t.Errorf("%d slow devices and %d hubs work", slow, hubs)
		}
		// A hub's port: out, and in again.
		k := newKeyboard()
		first.plug(4, k.device(usb.Full))
		r.settle()
		f.press(k, 0, 7)
		if got := r.typed(t); got != "d" {
			t.Errorf("typed %q", got)
		}
		first.plug(4, nil)
		r.settle()
		if n := r.u.Keyboards(); n != 1 {
			t.Errorf("%d keyboards", n)
		}
		r.end(t)
	})
}
