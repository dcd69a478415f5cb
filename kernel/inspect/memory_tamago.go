//go:build tamago

package inspect

import (
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/paging"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/kernel/refusal"
)

// Peek reads size bytes, 1, 2, 4 or 8, of physical memory at pa by a single access,
// uncached.
//
// Errors: EINVAL no such address, or it is no multiple of size.
func Peek(pa uint64, size int) (v uint64, err error) {
	err = at(pa, size, func(va uintptr) { v = load(va, size) })
	return v, err
}

// Poke writes size bytes of v to physical memory at pa, as Peek reads them. What is there is
// the caller's business: it may be the kernel.
//
// Errors: as Peek.
func Poke(pa uint64, size int, v uint64) error {
	return at(pa, size, func(va uintptr) { store(va, size, v) })
}

// Physical is physical memory as an io.ReaderAt, for tables that firmware has left in it.
type Physical struct{}

// ReadAt implements io.ReaderAt. Where nothing is, all bytes are 255, as a rule.
//
// Errors: EINVAL no such address.
func (Physical) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		pa := uint64(off) + uint64(n)
		part := p[n:min(len(p), n+int(paging.PageSize-pa%paging.PageSize))]
		if err := mapped(pa, 0, func(va uintptr) { fetch(part, va) }); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// at is mapped, uncached, for an access of size bytes.
func at(pa uint64, size int, f func(va uintptr)) error {
	if size != 1 && size != 2 && size != 4 && size != 8 || pa%uint64(size) != 0 {
		return refusal.New(syscall.EINVAL, "%d bytes at %#x: the size must be 1, 2, 4 or 8, and the address a multiple of it", size, pa)
	}
	return mapped(pa, amd64.PTE_PCD, f)
}

// mapped calls f with the address at which physical address pa, and the rest of its page,
// is mapped.
func mapped(pa uint64, flags uint64, f func(va uintptr)) error {
	if pa>>physicalBits() != 0 {
		return refusal.New(syscall.EINVAL, "address %#x has more than %d bits", pa, physicalBits())
	}
	mm.Changes.Lock()
	defer mm.Changes.Unlock()
	page := pa &^ (paging.PageSize - 1)
	if c := mm.Tables.Map(uint64(mm.Window), page, paging.PageSize, amd64.PTE_NX|amd64.PTE_W|flags); c != paging.OK {
		return refusal.New(syscall.ENOMEM, "address %#x: %s", pa, c)
	}
	defer mm.Tables.Unmap(uint64(mm.Window), paging.PageSize)
	f(mm.Window + uintptr(pa-page))
	return nil
}

// The functions below use the window. They are nosplit with interrupts off: the CPU may remember
// another page from last time, which it must forget first, and a stack check might change the
// CPU, or leave this one with interrupts off.
// Safe because: mapped has mapped what they are given.

//go:nosplit
func load(va uintptr, size int) (v uint64) {
	flags := cpu.IRQOff()
	cpu.Invlpg(mm.Window)
	switch p := pointer(va); size {
	case 1:
		v = uint64(*(*uint8)(p))
	case 2:
		v = uint64(*(*uint16)(p))
	case 4:
		v = uint64(*(*uint32)(p))
	case 8:
		v = *(*uint64)(p)
	}
	cpu.IRQRestore(flags)
	return v
}

//go:nosplit
func store(va uintptr, size int, v uint64) {
	flags := cpu.IRQOff()
	cpu.Invlpg(mm.Window)
	switch p := pointer(va); size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	case 8:
		*(*uint64)(p) = v
	}
	cpu.IRQRestore(flags)
}

//go:nosplit
func fetch(to []byte, va uintptr) {
	flags := cpu.IRQOff()
	cpu.Invlpg(mm.Window)
	from := pointer(va)
	for i := range to {
		to[i] = *(*byte)(unsafe.Add(from, i))
	}
	cpu.IRQRestore(flags)
}

//go:nosplit
func pointer(va uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&va)) }

// physicalBits is how long physical addresses are.
//
// Source: Intel SDM vol. 2A, "CPUID", leaf 0x80000008.
func physicalBits() uint {
	const leaf, usual = 0x8000_0008, 36
	if most, _, _, _ := cpu.CPUID(0x8000_0000, 0); most < leaf {
		return usual
	}
	a, _, _, _ := cpu.CPUID(leaf, 0)
	return uint(a & 0xff)
}
