//go:build tamago

package console

import (
	"syscall"

	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/irq"
	"sonde/kernel/refusal"
)

// The controller of the PS/2 keyboard, which firmware imitates for USB keyboards.
//
// Source: IBM Personal System/2 Hardware Interface Technical Reference, "Keyboard and
// Auxiliary Device Controller".
const (
	kbdData, kbdStatus, kbdCommand = 0x60, 0x64, 0x64

	kbdFull      = 1 << 0 // status: there is a byte for us
	kbdBusy      = 1 << 1 // status: it has not taken our last one
	kbdIsMouse   = 1 << 5 // status: the byte is from the mouse
	readConfig   = 0x20   // commands
	writeConfig  = 0x60
	enableFirst  = 0xae
	interrupts   = 1 << 0 // configuration: of the keyboard
	disableFirst = 1 << 4
	translate    = 1 << 6 // to set 1

	kbdIRQ = 1
)

// setLayout gives the keyboard the layout called keymap; that of the US if there is none of that name.
//
// Errors: EINVAL.
func setLayout(keymap string) error {
	err := keys.SetLayout(keymap)
	if err != nil {
		keys.SetLayout("us")
	}
	return err
}

// initKeyboard makes the keyboard interrupt. Firmware has set it up for its own use
// already: what it must do besides is little, and boards that have no controller, only an
// imitation of it, do not understand more.
func initKeyboard(m *acpi.MADT) error {
	if cpu.In8(kbdStatus) == 0xff {
		return refusal.New(syscall.ENODEV, "no controller")
	}
	drainKeyboard()
	config, ok := byte(0), kbdSend(kbdCommand, readConfig)
	if ok {
		config, ok = kbdReceive()
	}
	if !ok || !kbdSend(kbdCommand, writeConfig) || !kbdSend(kbdData, config&^disableFirst|interrupts|translate) || !kbdSend(kbdCommand, enableFirst) {
		return refusal.New(syscall.EIO, "the controller does not answer")
	}
	return irq.Request(m, kbdIRQ, "i8042", pressed)
}

// pressed is the keyboard's interrupt.
func pressed() {
	flags := ring.mu.Lock()
	for s := cpu.In8(kbdStatus); s&kbdFull != 0 && s != 0xff; s = cpu.In8(kbdStatus) {
		if c := cpu.In8(kbdData); s&kbdIsMouse == 0 {
			ring.put(fromKeyboard | uint16(c))
		}
	}
	ring.mu.Unlock(flags)
	ring.event.Wake()
}

// drainKeyboard forgets what was typed until now: no interrupt would tell of it.
func drainKeyboard() {
	for range 32 {
		if cpu.In8(kbdStatus)&kbdFull == 0 {
			return
		}
		cpu.In8(kbdData)
	}
}

// kbdSend writes to a port of the controller when that can take it.
func kbdSend(port uint16, c byte) bool {
	if !kbdWait(kbdBusy, 0) {
		return false
	}
	cpu.Out8(port, c)
	return true
}

func kbdReceive() (c byte, ok bool) {
	if !kbdWait(kbdFull, kbdFull) {
		return 0, false
	}
	return cpu.In8(kbdData), true
}

// kbdWait waits until the bits of mask in the status are want, half a second at most.
func kbdWait(mask, want byte) bool {
	for end := cpu.Nanotime() + 500e6; cpu.In8(kbdStatus)&mask != want; cpu.Pause() {
		if cpu.Nanotime() > end {
			return false
		}
	}
	return true
}
