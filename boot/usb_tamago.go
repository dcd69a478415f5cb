//go:build tamago

package main

import (
	"strconv"
	"time"

	"sonde/kernel/console"
	"sonde/kernel/kthread"
	"sonde/kernel/pci"
	"sonde/kernel/printk"
	"sonde/kernel/usb"
	"sonde/kernel/usb/xhci"
)

// What a USB controller of the kind xHCI says it is.
const (
	usbController = 0x0c03
	xhciInterface = 0x30
)

var usbDevices = usb.Drivers{Type: console.Type}

// startUSB starts the USB controllers, if keyboards are of use. The boot does not wait for them.
func startUSB() {
	if !console.TakesKeyboard() {
		return
	}
	console.OnLights(usbDevices.Lights)
	looked := usbDevices.Begin()
	kthread.Run("xhci", func() {
		defer looked()
		for i, f := range pci.Find(usbController, xhciInterface) {
			name, looked := strconv.Itoa(i+1), usbDevices.Begin()
			kthread.Run("xhci "+name, func() {
				defer looked()
				if err := xhci.Run(f, &acpiInfo.MADT, name, &usbDevices, looked); err != nil {
					printk.Warn("xhci %s: %s: %s", name, f.Address(), err.Error())
				}
			})
		}
	})
}

// settleUSB waits until what is plugged in has been looked at: the log would break into the prompt. It reports
// whether there is a keyboard.
func settleUSB() (keyboard bool) {
	const longest = 3 * time.Second
	usbDevices.Settle(longest)
	return usbDevices.Keyboards() > 0
}
