package xhci

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sonde/kernel/usb"
)

// TestControllersThatFail: each way to say nothing, or nonsense, ends with an error in five seconds, and with nothing that waits.
func TestControllersThatFail(t *testing.T) {
	for name, faults := range map[string]faults{
		"silent":        {silent: true},
		"never halts":   {neverHalts: true},
		"never resets":  {neverResets: true},
		"keeps":         {firmwareKeeps: true},
		"no slot":       {deafCommand: trbEnableSlot},
		"no address":    {deafCommand: trbAddress},
		"no endpoints":  {deafCommand: trbConfigure},
		"a slot beyond": {slot: 200},
		"refuses all":   {code: func(uint32) uint32 { return 5 }},
		"refuses slots": {code: func(kind uint32) uint32 { return map[uint32]uint32{trbEnableSlot: 9}[kind] }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, k := newFake(1), newKeyboard()
				f.faults, f.owned = faults, true
				if faults.neverHalts {
					f.words[fakeOp+USBSTS] = 0
				}
				f.plug(1, k.device(usb.High))
				began := time.Now()
				r, err := drive(f)
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it took %s", took)
				}
				if bad := faults.silent || faults.neverHalts || faults.neverResets; bad != (err != nil) {
					t.Fatalf("error %v", err)
				}
				if err != nil {
					return
				}
				r.settle()
				if works := r.c.Works(); works != (faults.deafCommand == 0) {
					t.Errorf("the controller is in use: %v", works)
				}
				if n := r.u.Keyboards(); n != 0 && !faults.firmwareKeeps {
					t.Errorf("%d keyboards", n)
				}
				r.stop()
			})
		})
	}
}

// TestVanishes: a controller whose registers are gone is given up, and what waits for it ends.
func TestVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFake(1), newKeyboard()
		f.plug(1, k.device(usb.High))
		r := mustDrive(t, f)
		r.settle()
		f.mu.Lock()
		f.faults.silent = true
		f.mu.Unlock()
		f.kick <- struct{}{}
		<-r.ended
		if r.c.Works() || r.u.Keyboards() != 0 {
			t.Error("the driver goes on")
		}
	})
}

// TestDevicesThatFail: errors, stalls, and descriptors that lie. All that the device had is free in the end.
func TestDevicesThatFail(t *testing.T) {
	change := func(b []byte, at int, v byte) []byte {
		b = append([]byte(nil), b...)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		name  string
		spoil func(k *fakeKeyboard)
		works bool
	}{
		{"errors of each kind", func(k *fakeKeyboard) { k.codes = []uint32{codeStall, codeBabble, codeTransaction, 99} }, true},
		{"errors without end", func(k *fakeKeyboard) { k.codes = bytesOf(codeTransaction, 8) }, false},
		{"no SET_IDLE", func(k *fakeKeyboard) { k.stalls = map[uint8]bool{0x0a: true} }, true},
		{"no SET_PROTOCOL", func(k *fakeKeyboard) { k.stalls = map[uint8]bool{0x0b: true} }, false},
		{"no configuration", func(k *fakeKeyboard) { k.stalls = map[uint8]bool{9: true} }, false},
		{"no descriptors", func(k *fakeKeyboard) { k.stalls = map[uint8]bool{6: true} }, false},
		{"a short device descriptor", func(k *fakeKeyboard) { k.ids = keyboardID[:17] }, false},
		{"packets of 77 bytes", func(k *fakeKeyboard) { k.ids = change(keyboardID, 7, 77) }, false},
		{"a short configuration", func(k *fakeKeyboard) { k.config = keyboardConfig[:8] }, false},
		{"a configuration that says it is longer", func(k *fakeKeyboard) { k.config = change(keyboardConfig, 3, 0xff) }, true},
		{"a configuration that says it is shorter", func(k *fakeKeyboard) { k.config = change(keyboardConfig, 2, 3) }, false},
		{"an endpoint beyond the end", func(k *fakeKeyboard) { k.config = change(keyboardConfig, 27, 20) }, false},
		{"a descriptor of no length", func(k *fakeKeyboard) { k.config = change(keyboardConfig, 9, 0) }, false},
		{"packets of no length", func(k *fakeKeyboard) { k.config = change(keyboardConfig, 31, 0) }, false},
		{"endpoint 0 again", func(k *fakeKeyboard) { k.config = change(keyboardConfig, 29, 0x80) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, k := newFake(1), newKeyboard()
				c.spoil(k)
				f.plug(1, k.device(usb.Full))
				r := mustDrive(t, f)
				r.settle()
				f.press(k, 0, 4)
				f.press(k, 0)
				if got := r.typed(t); (got == "a") != c.works {
					t.Errorf("typed %q", got)
				}
				// The port is not spoiled: another keyboard works there.
				r.plug(1, nil)
				r.settle()
				good := newKeyboard()
				r.plug(1, good.device(usb.Full))
				r.settle()
				f.press(good, 0, 5)
				f.press(good, 0)
				if got := r.typed(t); got != "b" {
					t.Errorf("typed %q on another keyboard", got)
				}
				r.end(t)
			})
		})
	}
}

func bytesOf(code uint32, n int) (all []uint32) {
	for range n {
		all = append(all, code)
	}
	return all
}

// TestPulledOut: a device that is pulled out while each of its requests is in the air.
func TestPulledOut(t *testing.T) {
	for at := range 8 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, k := newFake(2), newKeyboard()
				d := k.device(usb.Full)
				n := 0
				d.control = func(s usb.Setup, size int, data []byte) ([]byte, uint32) {
					if n++; n > at {
						return nil, never
					}
					return k.control(s, size, data)
				}
				f.plug(1, d)
				r := mustDrive(t, f)
				time.Sleep(time.Second)
				synctest.Wait()
				began := time.Now()
				r.plug(1, nil)
				for r.c.devices[1] != nil {
					time.Sleep(time.Millisecond)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %s to notice", took)
				}
				r.end(t)
			})
		})
	}
}

// TestSilentDevice: a request that is not answered ends, and the endpoint works afterwards.
func TestSilentDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFake(1), newKeyboard()
		d := k.device(usb.Full)
		silent := true
		d.control = func(s usb.Setup, size int, data []byte) ([]byte, uint32) {
			if silent {
				silent = false
				return nil, never
			}
			return k.control(s, size, data)
		}
		f.plug(1, d)
		r := mustDrive(t, f)
		r.settle()
		if r.u.Keyboards() != 1 {
			t.Error("the second try does not work")
		}
		var dev *device
		for _, dev = range r.c.devices[1:] {
			if dev != nil {
				break
			}
		}
		silent = true
		if _, err := dev.Control(usb.Setup{Type: 0x80, Request: 6, Value: 1 << 8}, make([]byte, 8)); !errors.Is(err, usb.ErrTimeout) {
			t.Error(err)
		}
		k.stalls = map[uint8]bool{6: true}
		if _, err := dev.Control(usb.Setup{Type: 0x80, Request: 6, Value: 1 << 8}, make([]byte, 8)); !errors.Is(err, usb.ErrStall) {
			t.Error(err)
		}
		k.stalls = nil
		if n, err := dev.Control(usb.Setup{Type: 0x80, Request: 6, Value: 1 << 8}, make([]byte, 64)); n != len(keyboardID) || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		r.end(t)
	})
}
