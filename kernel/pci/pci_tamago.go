//go:build tamago

package pci

import (
	"sync"

	"sonde/kernel/cpu"
)

// Ports of the configuration space: the first gets the address of a word, the second is that word.
//
// Source: PCI Local Bus Specification 3.0, "Software Generation of Configuration Transactions".
const configAddress, configData = 0xcf8, 0xcfc

const (
	multiFunction = 1 << 23 // in the word of the header's type
	decodes       = DecodeIO | DecodeMemory
	hostBridge    = 0x0600
)

// ports keeps the pair of ports to one user at a time. The lock is not held over calls: a stack check in them might
// change the CPU.
var ports cpu.SpinLock

// Read reads the word at an offset in bytes, a multiple of 4 below 256.
//
// Context: any but NMI; also before the runtime.
//
//go:nosplit
func (at Place) Read(offset int) uint32 {
	flags := ports.Lock()
	cpu.Out32(configAddress, at.word(offset))
	v := cpu.In32(configData)
	ports.Unlock(flags)
	return v
}

// Write writes that word.
//
// Context: as Read.
//
//go:nosplit
func (at Place) Write(offset int, v uint32) {
	flags := ports.Lock()
	cpu.Out32(configAddress, at.word(offset))
	cpu.Out32(configData, v)
	ports.Unlock(flags)
}

//go:nosplit
func (at Place) word(offset int) uint32 { return 1<<31 | uint32(at)<<8 | uint32(offset&0xfc) }

// Next returns the first place from at on where there is a function.
//
// Context: as Read.
func Next(at Place) (_ Place, ok bool) {
	for ; at < places; at++ {
		first := at &^ (Functions - 1)
		switch {
		case uint16(at.Read(0)) != Nothing && (at == first || first.Read(4*typeWord)&multiFunction != 0):
			return at, true
		case at == first || first.Read(4*typeWord)&multiFunction == 0:
			at |= Functions - 1 // function 0 is missing, or the only one: so are the others
		}
	}
	return at, false
}

// known are the functions that have been looked at. Each is looked at once: to learn how large its ranges are, it is
// made to answer to none for some microseconds, which a driver would notice.
var known = struct {
	sync.Mutex
	functions map[Place]Function
}{functions: map[Place]Function{}}

func look(at Place) Function {
	known.Lock()
	defer known.Unlock()
	f, ok := known.functions[at]
	if !ok {
		h := at.header()
		f = describe(at, &h)
		known.functions[at] = f
	}
	return f
}

// All returns what was on all PCI buses when it was first called, in order.
var All = sync.OnceValue(func() (all []Function) {
	for at, ok := Next(0); ok; at, ok = Next(at + 1) {
		all = append(all, look(at))
	}
	return all
})

// Find returns the functions of a class and subclass with an interface.
func Find(class uint16, kind uint8) (all []Function) {
	for at, ok := Next(0); ok; at, ok = Next(at + 1) {
		if at.Read(4*classWord)>>8 == uint32(class)<<8|uint32(kind) {
			all = append(all, look(at))
		}
	}
	return all
}

// header reads a function's header, and the masks of its base address registers.
func (at Place) header() (h Header) {
	for i := range h.Words {
		h.Words[i] = at.Read(4 * i)
	}
	words, rom := h.bars()
	if rom != 0 {
		words = append(words, rom)
	}
	h.measure(at, words)
	return h
}

// measure reads the masks of words. Interrupts are off, so that it does not take long.
//
//go:nosplit
func (h *Header) measure(at Place, words []int) {
	flags := ports.Lock()
	command := h.Words[commandWord] & 0xffff // what is above are errors that a 1 forgets
	bridge := h.Words[classWord]>>16 == hostBridge
	if !bridge {
		writeConfig(at.word(CommandAt), command&^decodes)
	}
	for _, w := range words {
		w &= len(h.Words) - 1
		writeConfig(at.word(4*w), ^uint32(0))
		h.Masks[w] = cpu.In32(configData)
		writeConfig(at.word(4*w), h.Words[w])
	}
	if !bridge {
		writeConfig(at.word(CommandAt), command)
	}
	ports.Unlock(flags)
}

//go:nosplit
func writeConfig(at, v uint32) {
	cpu.Out32(configAddress, at)
	cpu.Out32(configData, v)
}

// Config returns the reader of f's configuration space. It reads the device each time.
func (f Function) Config() Config { return f.place().Read }
