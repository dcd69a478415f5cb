package xhci

import (
	"testing"
	"testing/synctest"
	"time"

	"sonde/kernel/usb"
)

// FuzzDevices: devices answer anything, and say that they are hubs of hubs.
func FuzzDevices(f *testing.F) {
	f.Add([]byte{1, 0, 1, 2})
	f.Add(append(append([]byte{2, 18}, keyboardID...), keyboardConfig...))
	f.Fuzz(func(t *testing.T, data []byte) {
		synctest.Test(t, func(t *testing.T) {
			next := func() (v byte) {
				if len(data) > 0 {
					v, data = data[0], data[1:]
				}
				return v
			}
			fake := newFake(2)
			var device func() *fakeDevice
			left := 12
			device = func() *fakeDevice {
				if left--; left < 0 {
					return nil
				}
				k := newKeyboard()
				d := fake.newHub(usb.Speed(1+next()%5), 1+next()%4)
				hub, isHub := d.control, next()%2 == 0
				d.fakeDevice.control = func(s usb.Setup, n int, b []byte) ([]byte, uint32) {
					switch v := next(); {
					case len(data) == 0:
						return nil, codeStall
					case v < 8:
						return nil, uint32(v)
					case v < 40:
						answer := make([]byte, min(n, int(next())))
						for i := range answer {
							answer[i] = next()
						}
						return answer, codeSuccess
					case isHub:
						return hub(s, n, b)
					}
					return k.control(s, n, b)
				}
				d.fakeDevice.in = func(_, n int) ([]byte, uint32) {
					if len(data) == 0 {
						return nil, 0
					}
					answer := make([]byte, min(n, int(next())))
					for i := range answer {
						answer[i] = next()
					}
					return answer, max(1, uint32(next()%8))
				}
				for port := range 2 {
					if child := device(); child != nil {
						d.children[port+1] = child
						d.status[port+1], d.changed[port+1] = 1, 1
					}
				}
				return d.fakeDevice
			}
			fake.plug(1, device())
			r, err := drive(fake)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			r.end(t)
		})
	})
}
