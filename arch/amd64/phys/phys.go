// Package phys reads and writes physical memory through a value passed in.
//
// On the machine the value is where that memory is mapped; on the host it is a test buffer, so the
// parsers and builders that use this package run unchanged under go test. Nothing here
// allocates or needs an initialised Go runtime.
//
// An access outside the value reads as zero and writes nothing: firmware tables are
// untrusted, and a wild pointer in one must not fault before the machine has an IDT. To
// distinguish zero from absent, call Has first.
package phys

import "unsafe"

// Mem is a window of physical memory: address pa is at Base+pa. Base is a pointer rather than an
// integer so that a host buffer stays alive.
type Mem struct {
	Base unsafe.Pointer
	Size uint64
}

// DirectBase plus a physical address is where the machine's kernel has devices and the first MiB.
const DirectBase = 0xffff8000_00000000

// Direct returns where physical address pa is mapped, if it is of a device or in the first MiB.
func Direct(pa uint64) uintptr { return DirectBase + uintptr(pa) }

// At returns the window in which physical address pa below size is at base+pa.
func At(base uintptr, size uint64) Mem {
	return Mem{*(*unsafe.Pointer)(unsafe.Pointer(&base)), size} // Safe because: the caller has mapped it so
}

// Over returns a window whose physical address 0 is the first byte of b.
func Over(b []byte) Mem { return Mem{unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b))} }

// Has reports whether the n bytes at pa lie inside the window.
func (m Mem) Has(pa, n uint64) bool { return n <= m.Size && pa <= m.Size-n }

// at returns the address of pa.
// Safe because: every caller has checked Has for the bytes it touches.
// nocheckptr: what the machine has mapped is no object of the runtime's.
//
//go:nocheckptr
func (m Mem) at(pa uint64) unsafe.Pointer { return unsafe.Add(m.Base, uintptr(pa)) }

// Read8 loads the byte at pa, 0 if outside.
func (m Mem) Read8(pa uint64) uint8 {
	if !m.Has(pa, 1) {
		return 0
	}
	return *(*uint8)(m.at(pa))
}

// Read16 loads 2 bytes at pa, little-endian, any alignment; 0 if outside.
func (m Mem) Read16(pa uint64) uint16 {
	if !m.Has(pa, 2) {
		return 0
	}
	return *(*uint16)(m.at(pa))
}

// Read32 loads 4 bytes at pa, little-endian, any alignment; 0 if outside.
func (m Mem) Read32(pa uint64) uint32 {
	if !m.Has(pa, 4) {
		return 0
	}
	return *(*uint32)(m.at(pa))
}

// Read64 loads 8 bytes at pa, little-endian, any alignment; 0 if outside.
func (m Mem) Read64(pa uint64) uint64 {
	if !m.Has(pa, 8) {
		return 0
	}
	return *(*uint64)(m.at(pa))
}

// Write64 stores 8 bytes at pa in one store; false, and no store, if outside.
func (m Mem) Write64(pa, v uint64) bool {
	if !m.Has(pa, 8) {
		return false
	}
	*(*uint64)(m.at(pa)) = v
	return true
}

// Zero clears n bytes at pa, n a multiple of 8; false, and no store, if outside.
func (m Mem) Zero(pa, n uint64) bool {
	if n&7 != 0 || !m.Has(pa, n) {
		return false
	}
	for i := uint64(0); i < n; i += 8 {
		*(*uint64)(m.at(pa + i)) = 0
	}
	return true
}

// String returns the n bytes at pa as a string that aliases the memory: it is valid only while
// nothing writes there. "" if outside, and at the nil address, where Go has no strings.
func (m Mem) String(pa, n uint64) string {
	if n == 0 || !m.Has(pa, n) || m.at(pa) == nil {
		return ""
	}
	return unsafe.String((*byte)(m.at(pa)), int(n))
}
