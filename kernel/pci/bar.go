package pci

// Region is a range of addresses or ports that a PCI function answers to.
type Region struct {
	Number       int  // of the BAR
	Off          bool // a ROM that is not decoded
	IO           bool
	Start, Size  uint64
	Wide         bool // the register has 64 bits
	Prefetchable bool
	Kind         Kind
}

// Kind is what a Region is for.
type Kind uint8

const (
	BAR Kind = iota
	ROM
	Window // behind a bridge
)

// Header is the first part of a function's configuration space; Masks is what the registers read
// after all ones have been written to them, which tells how large the ranges are.
type Header struct {
	Words, Masks [16]uint32
}

// Offsets in the header, in words.
const (
	commandWord, classWord, typeWord = 0x04 / 4, 0x08 / 4, 0x0c / 4
	firstBAR, busesWord              = 0x10 / 4, 0x18 / 4
	ioWindow, memoryWindow           = 0x1c / 4, 0x20 / 4
	prefetchWindow, prefetchBase     = 0x24 / 4, 0x28 / 4
	prefetchLimit, ioHigh            = 0x2c / 4, 0x30 / 4
	deviceROM, bridgeROM             = 0x30 / 4, 0x38 / 4
)

// isBridge reports whether there is another bus behind the function.
func (h *Header) isBridge() bool { return h.Words[typeWord]>>16&0x7f == 1 }

// bars returns the words that are base address registers, and the one of the ROM.
func (h *Header) bars() (words []int, rom int) {
	switch h.Words[typeWord] >> 16 & 0x7f {
	case 0:
		return []int{firstBAR, firstBAR + 1, firstBAR + 2, firstBAR + 3, firstBAR + 4, firstBAR + 5}, deviceROM
	case 1:
		return []int{firstBAR, firstBAR + 1}, bridgeROM
	}
	return nil, 0 // a CardBus bridge
}

// Regions decodes the header. Regions without an address are left out.
//
// Source: PCI Local Bus Specification 3.0, "Base Addresses"; PCI-to-PCI Bridge Architecture
// Specification 1.2, "Memory Base Register and Memory Limit Register".
func (h *Header) Regions() (all []Region) {
	words, rom := h.bars()
	for i := 0; i < len(words); i++ {
		w := words[i]
		base, mask := h.Words[w], h.Masks[w]
		const io, wide, prefetch = 1, 2 << 1, 1 << 3
		if base&io != 0 {
			const bits = 0xffff // some leave those above at 0
			all = append(all, Region{Number: i, IO: true, Start: uint64(base &^ 3), Size: size(uint64(mask&^3)|^uint64(bits)) & bits})
			continue
		}
		r := Region{Number: i, Start: uint64(base &^ 15), Prefetchable: base&prefetch != 0, Wide: base&6 == wide && i+1 < len(words)}
		high := uint64(1<<32 - 1)
		if r.Wide {
			i++
			r.Start |= uint64(h.Words[w+1]) << 32
			high = uint64(h.Masks[w+1])
		}
		r.Size = size(high<<32 | uint64(mask&^15))
		if mask&^15 == 0 && !r.Wide {
			r.Size = 0
		}
		all = append(all, r)
	}
	if rom != 0 {
		all = append(all, Region{Off: h.Words[rom]&1 == 0, Start: uint64(h.Words[rom] &^ 0x7ff), Size: size(uint64(h.Masks[rom]&^0x7ff) | 0xffff_ffff<<32), Kind: ROM})
	}
	if h.isBridge() {
		all = append(all, h.windows()...)
	}
	n := 0
	for _, r := range all {
		if r.Size != 0 && r.Start != 0 {
			all[n] = r
			n++
		}
	}
	return all[:n]
}

// size is how much is below the lowest bit that can be set; 0 if none can.
func size(mask uint64) uint64 { return mask & -mask }

// Way is a range that a bridge passes on, if Limit is above Base.
type Way struct {
	What        string
	Bits        int // of its addresses
	Base, Limit uint64
}

// Ways are the ranges for ports, memory and prefetchable memory.
func (h *Header) Ways() [3]Way {
	w := &h.Words
	io := w[ioWindow]
	ports := Way{"I/O", 16, uint64(io&0xf0) << 8, uint64(io>>8&0xf0)<<8 | 0xfff}
	if io&15 == 1 {
		ports.Bits = 32
		ports.Base |= uint64(w[ioHigh]&0xffff) << 16
		ports.Limit |= uint64(w[ioHigh]>>16) << 16
	}
	memory := func(what string, v uint32) Way {
		return Way{what, 32, uint64(v&0xfff0) << 16, uint64(v&0xfff00000) | 0xfffff}
	}
	prefetch := memory("Prefetchable memory", w[prefetchWindow])
	if w[prefetchWindow]&15 == 1 {
		prefetch.Bits = 64
		prefetch.Base |= uint64(w[prefetchBase]) << 32
		prefetch.Limit |= uint64(w[prefetchLimit]) << 32
	}
	return [...]Way{ports, memory("Memory", w[memoryWindow]), prefetch}
}

// windows are the ranges that a bridge passes on.
func (h *Header) windows() (all []Region) {
	for i, w := range h.Ways() {
		if w.Limit > w.Base {
			all = append(all, Region{IO: i == 0, Start: w.Base, Size: w.Limit - w.Base + 1, Prefetchable: i == 2, Kind: Window})
		}
	}
	return all
}
