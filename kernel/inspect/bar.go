package inspect

import "fmt"

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

// header is the first part of a function's configuration space; masks is what the registers read
// after all ones have been written to them, which tells how large the ranges are.
type header struct {
	words, masks [16]uint32
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
func (h *header) isBridge() bool { return h.words[typeWord]>>16&0x7f == 1 }

// bars returns the words that are base address registers, and the one of the ROM.
func (h *header) bars() (words []int, rom int) {
	switch h.words[typeWord] >> 16 & 0x7f {
	case 0:
		return []int{firstBAR, firstBAR + 1, firstBAR + 2, firstBAR + 3, firstBAR + 4, firstBAR + 5}, deviceROM
	case 1:
		return []int{firstBAR, firstBAR + 1}, bridgeROM
	}
	return nil, 0 // a CardBus bridge
}

// regions decodes the header. Regions without an address are left out.
//
// Source: PCI Local Bus Specification 3.0, "Base Addresses"; PCI-to-PCI Bridge Architecture
// Specification 1.2, "Memory Base Register and Memory Limit Register".
func (h *header) regions() (all []Region) {
	words, rom := h.bars()
	for i := 0; i < len(words); i++ {
		w := words[i]
		base, mask := h.words[w], h.masks[w]
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
			r.Start |= uint64(h.words[w+1]) << 32
			high = uint64(h.masks[w+1])
		}
		r.Size = size(high<<32 | uint64(mask&^15))
		if mask&^15 == 0 && !r.Wide {
			r.Size = 0
		}
		all = append(all, r)
	}
	if rom != 0 {
		all = append(all, Region{Off: h.words[rom]&1 == 0, Start: uint64(h.words[rom] &^ 0x7ff), Size: size(uint64(h.masks[rom]&^0x7ff) | 0xffff_ffff<<32), Kind: ROM})
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

// way is a range that a bridge passes on, if limit is above base.
type way struct {
	what        string
	bits        int // of its addresses
	base, limit uint64
}

// ways are the ranges for ports, memory and prefetchable memory.
func (h *header) ways() [3]way {
	w := &h.words
	io := w[ioWindow]
	ports := way{"I/O", 16, uint64(io&0xf0) << 8, uint64(io>>8&0xf0)<<8 | 0xfff}
	if io&15 == 1 {
		ports.bits = 32
		ports.base |= uint64(w[ioHigh]&0xffff) << 16
		ports.limit |= uint64(w[ioHigh]>>16) << 16
	}
	memory := func(what string, v uint32) way {
		return way{what, 32, uint64(v&0xfff0) << 16, uint64(v&0xfff00000) | 0xfffff}
	}
	prefetch := memory("Prefetchable memory", w[prefetchWindow])
	if w[prefetchWindow]&15 == 1 {
		prefetch.bits = 64
		prefetch.base |= uint64(w[prefetchBase]) << 32
		prefetch.limit |= uint64(w[prefetchLimit]) << 32
	}
	return [...]way{ports, memory("Memory", w[memoryWindow]), prefetch}
}

// windows are the ranges that a bridge passes on.
func (h *header) windows() (all []Region) {
	for i, w := range h.ways() {
		if w.limit > w.base {
			all = append(all, Region{IO: i == 0, Start: w.base, Size: w.limit - w.base + 1, Prefetchable: i == 2, Kind: Window})
		}
	}
	return all
}

// Address is the function's place as Linux writes it.
func (p PCI) Address() string { return fmt.Sprintf("0000:%02x:%02x.%d", p.Bus, p.Slot, p.Func) }

// short is a size as lspci writes it.
func short(n uint64) string {
	unit := 0
	for n >= 1024 && n%1024 == 0 && unit < 4 {
		n, unit = n/1024, unit+1
	}
	return fmt.Sprintf("%d%s", n, [...]string{"", "K", "M", "G", "T"}[unit])
}
