package uprobes

import (
	"errors"
	"slices"
	"syscall"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
	"sonde/kernel/refusal"
	"sonde/linux/space"
	"sonde/uprobes/place"
)

// slotPages returns the pages of slots of x.
func (x *text) slotPages() []slots {
	if p := x.pages.Load(); p != nil {
		return *p
	}
	return nil
}

// addPage adds a page of slots. mu held.
func (x *text) addPage(s slots) {
	all := append(slices.Clone(x.slotPages()), s)
	x.pages.Store(&all)
}

const slotsPerPage = space.PageSize / place.SlotSize

// newSlotPage makes a page with one reference.
//
// Errors: space.ErrNoMemory.
func newSlotPage(pool *frame.Pool) (*slotPage, error) {
	f, err := pool.Alloc()
	if err != nil {
		return nil, err
	}
	p := &slotPage{frames: pool, frame: f, next: 1}
	p.holds.Store(1)
	b := pool.Bytes(f)
	for i := range b {
		b[i] = 0xCC
	}
	copy(b, place.Trampoline[:])
	return p, nil
}

func (p *slotPage) Frame(page uint64) (frame.Frame, error) {
	if page != 0 {
		return frame.None, backing.ErrBus
	}
	p.frames.Ref(p.frame)
	return p.frame, nil
}

func (p *slotPage) Hold() { p.holds.Add(1) }

func (p *slotPage) Drop() {
	if p.holds.Add(-1) == 0 {
		p.frames.Put(p.frame)
	}
}

func (p *slotPage) Ident() backing.Ident { return backing.Ident{Name: "[uprobes]"} }

// giveSlot makes a copy of a point's instruction in a slot. If no slot is within reach of its operand, it is stepped
// in one that is far away, where a register has the operand's address. mu held.
//
// Errors: ENOMEM no space for a page, ERANGE.
func (x *text) giveSlot(pt *point) error {
	err := x.place(pt)
	if err == nil {
		return nil
	}
	fits := func(at uint64) bool { _, err := pt.plan.Slot(at); return err == nil }
	if x.newSlots(uint64(pt.addr), fits) || errors.Is(err, syscall.ENOMEM) && x.mapSlots(0, 0) == nil {
		err = x.place(pt)
	}
	if errors.Is(err, syscall.ERANGE) && pt.plan.Way == place.Boost && pt.stepped != nil {
		pt.plan = pt.stepped
		err = x.place(pt)
	}
	return err
}

// slotAt returns the point in whose slot ip is, or nil. It takes no lock.
func (x *text) slotAt(ip uint64) *point {
	for _, s := range x.slotPages() {
		if off := ip - s.at; off < space.PageSize {
			return s.page.points[off/place.SlotSize].Load()
		}
	}
	return nil
}

var errFull = refusal.New(syscall.ENOMEM, "no room for a page of slots in the program's address space")

// place is giveSlot in the existing pages.
func (x *text) place(pt *point) error {
	err := errFull
	for _, s := range x.slotPages() {
		if s.page.next < slotsPerPage {
			if err = x.fill(pt, s); err == nil {
				return nil
			}
		}
	}
	return err
}

// fill gives pt the next slot of s.
func (x *text) fill(pt *point, s slots) error {
	off := uint64(s.page.next * place.SlotSize)
	code, err := pt.plan.Slot(s.at + off)
	if err != nil {
		return err
	}
	copy(s.page.frames.Bytes(s.page.frame)[off:off+place.SlotSize], code)
	s.page.points[s.page.next].Store(pt)
	s.page.next++
	pt.slot = s.at + off
	return nil
}

// newSlots maps a new page of slots near addr, where it suits, and reports whether it could. mu held.
func (x *text) newSlots(addr uint64, suits func(at uint64) bool) bool {
	for _, at := range holes(x.mem.Space, addr) {
		if suits(at) && x.mapSlots(at, space.NoReplace) == nil {
			return true
		}
	}
	return false
}

// mapSlots maps a new page of slots, with at and how both 0 wherever there is room. mu held.
//
// Errors: those of space.Map, and ErrNoMemory.
func (x *text) mapSlots(at uint64, how space.Flags) error {
	p, err := newSlotPage(table.Memory.Frames)
	if err != nil {
		return err
	}
	if at, err = x.mem.Map(at, space.PageSize, space.Read|space.Exec, how|space.OfKernel, p, 0); err != nil {
		p.Drop()
		return err
	}
	x.addPage(slots{p, at})
	return nil
}

// prepareReturns makes the trampoline, if there is none. mu held.
//
// Errors: ENOMEM.
func (x *text) prepareReturns(addr uint64) error {
	if x.trampoline.Load() != 0 {
		return nil
	}
	if len(x.slotPages()) == 0 && !x.newSlots(addr, func(uint64) bool { return true }) {
		if err := x.mapSlots(0, 0); err != nil {
			return err
		}
	}
	x.trampoline.Store(x.slotPages()[0].at)
	return nil
}

// near is how far a slot may be from its instruction.
const near = 2<<30 - 64<<20

// holes returns the addresses of free pages, best first: right below a mapping, where no
// heap grows, and within reach of an operand relative to IP.
func holes(s *space.Space, addr uint64) (all []uint64) {
	areas := s.Areas()
	var above []uint64
	for i := len(areas) - 1; i >= 0; i-- {
		at, end := areas[i].Start-space.PageSize, uint64(0)
		if i > 0 {
			end = areas[i-1].End
		}
		far := max(at, addr) - min(at, addr)
		if areas[i].Start < end+2*space.PageSize || far > near || areas[i].Ident.Name == "[stack]" || !s.Allows(at, at+space.PageSize) {
			continue
		}
		if at < addr {
			all = append(all, at)
		} else {
			above = append(above, at)
		}
	}
	all = append(all, above...)
	if at := (addr + near/2) &^ (space.PageSize - 1); s.Allows(at, at+space.PageSize) {
		all = append(all, at)
	}
	return all
}
