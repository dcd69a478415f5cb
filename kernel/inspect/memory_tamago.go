//go:build tamago

package inspect

import (
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/paging"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
)

// window is where the page of physical memory appears that is looked at: boot's layout
// has nothing there.
const window = 680 << 30

// memory guards the window.
var memory sync.Mutex

// Peek reads size bytes, 1, 2, 4 or 8, of physical memory at pa by a single access,
// uncached.
//
// Context: goroutine.
// Errors: EINVAL no such address, or it is no multiple of size.
func Peek(pa uint64, size int) (v uint64, err error) {
	err = at(pa, size, amd64.PTE_PCD, func(p unsafe.Pointer) {
		switch size {
		case 1:
			v = uint64(*(*uint8)(p))
		case 2:
			v = uint64(*(*uint16)(p))
		case 4:
			v = uint64(*(*uint32)(p))
		case 8:
			v = *(*uint64)(p)
		}
	})
	return v, err
}

// Poke writes size bytes of v to physical memory at pa, as Peek reads them. What is there is
// the caller's business: it may be the kernel.
//
// Context: goroutine.
// Errors: as Peek.
func Poke(pa uint64, size int, v uint64) error {
	return at(pa, size, amd64.PTE_PCD, func(p unsafe.Pointer) {
		switch size {
		case 1:
			*(*uint8)(p) = uint8(v)
		case 2:
			*(*uint16)(p) = uint16(v)
		case 4:
			*(*uint32)(p) = uint32(v)
		case 8:
			*(*uint64)(p) = v
		}
	})
}

// Physical is physical memory as an io.ReaderAt, for tables that firmware has left in it.
type Physical struct{}

// ReadAt implements io.ReaderAt. Where nothing is, all bytes are 255, as a rule.
//
// Context: goroutine.
// Errors: EINVAL no such address.
func (Physical) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		pa := uint64(off) + uint64(n)
		part := p[n:min(len(p), n+int(paging.PageSize-pa%paging.PageSize))]
		err := mapped(pa, 0, func(from unsafe.Pointer) {
			copy(part, unsafe.Slice((*byte)(from), len(part))) // Safe because: all of it is in the page
		})
		if err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// at is mapped for an access of size bytes.
func at(pa uint64, size int, flags uint64, f func(p unsafe.Pointer)) error {
	if size != 1 && size != 2 && size != 4 && size != 8 || pa%uint64(size) != 0 {
		return fmt.Errorf("inspect: %d bytes at %#x: %w", size, pa, syscall.EINVAL)
	}
	return mapped(pa, flags, f)
}

// mapped calls f with physical address pa, and the rest of its page, mapped.
func mapped(pa uint64, flags uint64, f func(p unsafe.Pointer)) error {
	if pa>>physicalBits() != 0 {
		return fmt.Errorf("inspect: address %#x has more than %d bits: %w", pa, physicalBits(), syscall.EINVAL)
	}
	memory.Lock()
	defer memory.Unlock()
	page := pa &^ (paging.PageSize - 1)
	if c := mm.Tables.Map(window, page, paging.PageSize, amd64.PTE_NX|amd64.PTE_W|flags); c != paging.OK {
		return fmt.Errorf("inspect: address %#x: %s: %w", pa, c, syscall.ENOMEM)
	}
	defer mm.Tables.Unmap(window, paging.PageSize)
	// This CPU may remember another page from last time, and must not change meanwhile.
	defer cpu.IRQRestore(cpu.IRQOff())
	cpu.Invlpg(window)
	p := uintptr(window + pa - page)
	f(*(*unsafe.Pointer)(unsafe.Pointer(&p))) // Safe because: it is mapped until we return
	return nil
}

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
