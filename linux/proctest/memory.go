package proctest

import (
	"encoding/binary"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/mm/frame"
)

// The program's memory as its CPU accesses it: by the page tables. Where these do not allow it, there is a page
// fault, and the access has not been made.

// access returns the byte at addr, and sets what a processor sets in the page's entry.
func (p *Player) access(addr uint64, write bool) *byte {
	f := frame.Frame(p.Space.Root())
	for level := 3; ; level-- {
		e := &p.World.Frames.Words(f)[addr>>(12+9*level)%512]
		want := uint64(amd64.PTE_P | amd64.PTE_U)
		if write {
			want |= amd64.PTE_W
		}
		if atomic.LoadUint64(e)&want != want {
			return nil
		}
		f = frame.Frame(atomic.LoadUint64(e) & amd64.PTE_ADDR)
		if level > 0 {
			continue
		}
		if atomic.OrUint64(e, amd64.PTE_A); write {
			atomic.OrUint64(e, amd64.PTE_D)
		}
		return &p.World.Frames.Bytes(f)[addr%4096]
	}
}

// LoadWord returns the 8 bytes at addr. Not ok: there is a page fault.
func (p *Player) LoadWord(addr uint64) (v uint64, ok bool) {
	var b [8]byte
	for i := range b {
		at := p.access(addr+uint64(i), false)
		if at == nil {
			return 0, false
		}
		b[i] = *at
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// LoadPair is LoadWord for two adjacent words.
func (p *Player) LoadPair(addr uint64) (first, second uint64, ok bool) {
	first, ok = p.LoadWord(addr)
	if ok {
		second, ok = p.LoadWord(addr + 8)
	}
	return first, second, ok
}

// SwapWord replaces the 8 bytes at addr, and returns the old ones. Not ok: there is a page fault.
func (p *Player) SwapWord(addr, v uint64) (old uint64, ok bool) {
	var at [8]*byte
	for i := range at {
		if at[i] = p.access(addr+uint64(i), true); at[i] == nil {
			return 0, false
		}
	}
	for i := range at {
		old |= uint64(*at[i]) << (8 * i)
		*at[i] = byte(v >> (8 * i))
	}
	return old, true
}
