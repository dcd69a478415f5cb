//go:build tamago

package inspect

import (
	"sync"

	"sonde/kernel/cpu"

	"github.com/usbarmory/tamago/soc/intel/pci"
)

const (
	multiFunction = 1 << 23 // in the word of the header's type
	decodes       = 3       // bits of the command: the function answers to ports, to memory
	hostBridge    = 0x0600
)

// Devices returns what was on all PCI buses when it was first called, in order. It looks once:
// to learn how large a function's ranges are, it makes the function answer to none for some
// microseconds.
//
// Source: PCI Local Bus Specification 3.0, "Configuration Space".
var Devices = sync.OnceValue(func() (all []PCI) {
	for bus := range buses {
		for _, d := range pci.Devices(bus) {
			for fn := range uint32(functions) {
				h, ok := readHeader(d, fn)
				if ok {
					all = append(all, describe(d, fn, &h))
				}
				if fn == 0 && h.words[typeWord]&multiFunction == 0 {
					break
				}
			}
		}
	}
	return all
})

func describe(d *pci.Device, fn uint32, h *header) PCI {
	class := h.words[classWord]
	p := PCI{
		Bus: uint8(d.Bus), Slot: uint8(d.Slot), Func: uint8(fn),
		Vendor: uint16(h.words[0]), Device: uint16(h.words[0] >> 16),
		Class: uint16(class >> 16), Interface: uint8(class >> 8), Revision: uint8(class),
		Regions: h.regions(),
	}
	if h.isBridge() {
		p.Secondary = uint8(h.words[busesWord] >> 8)
	}
	return p
}

// readHeader reads a function's header; not ok if there is no such function.
func readHeader(d *pci.Device, fn uint32) (h header, ok bool) {
	for i := range h.words {
		h.words[i] = d.Read(fn, uint32(4*i))
	}
	if uint16(h.words[0]) == nothing {
		return h, false
	}
	words, rom := h.bars()
	if rom != 0 {
		words = append(words, rom)
	}
	h.measure(d, fn, words)
	return h, true
}

// measure reads the masks of words. Interrupts are off, so that it does not take long; nosplit
// because a stack check might change the CPU, so that it does not call the driver.
//
//go:nosplit
func (h *header) measure(d *pci.Device, fn uint32, words []int) {
	at := 1<<31 | d.Bus<<16 | d.Slot<<11 | fn<<8
	flags := cpu.IRQOff()
	command := h.words[commandWord] & 0xffff // what is above are errors that a 1 forgets
	bridge := h.words[classWord]>>16 == hostBridge
	if !bridge {
		writeConfig(at|pci.Command, command&^decodes)
	}
	for _, w := range words {
		w &= len(h.words) - 1
		writeConfig(at|uint32(4*w), ^uint32(0))
		h.masks[w] = cpu.In32(pci.CONFIG_DATA)
		writeConfig(at|uint32(4*w), h.words[w])
	}
	if !bridge {
		writeConfig(at|pci.Command, command)
	}
	cpu.IRQRestore(flags)
}

//go:nosplit
func writeConfig(at, v uint32) {
	cpu.Out32(pci.CONFIG_ADDRESS, at)
	cpu.Out32(pci.CONFIG_DATA, v)
}

// configs keeps the pair of ports with which a register is read to one reader at a time.
var configs sync.Mutex

// Config returns the reader of p's configuration space: of the word at an offset in bytes,
// which must be a multiple of 4 below 256. It reads the device each time.
//
// Source: PCI Local Bus Specification 3.0, "Software Generation of Configuration Transactions".
func (p PCI) Config() Config {
	at := 1<<31 | uint32(p.Bus)<<16 | uint32(p.Slot)<<11 | uint32(p.Func)<<8
	return func(offset int) uint32 {
		configs.Lock()
		defer configs.Unlock()
		return readConfig(at | uint32(offset&0xfc))
	}
}

//go:nosplit
func readConfig(at uint32) uint32 {
	flags := cpu.IRQOff()
	cpu.Out32(pci.CONFIG_ADDRESS, at)
	v := cpu.In32(pci.CONFIG_DATA)
	cpu.IRQRestore(flags)
	return v
}
