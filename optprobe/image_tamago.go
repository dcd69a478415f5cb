//go:build tamago

package optprobe

import (
	"unsafe"

	"sonde/kernel/mm"
)

// word reads a word of the image's read-only data.
func word(addr uint64) (uint64, bool) {
	a := uintptr(addr)
	if !mm.ROData.Contains(a) || !mm.ROData.Contains(a+7) {
		return 0, false
	}
	return *(*uint64)(unsafe.Pointer(a)), true // Safe because: it is mapped for good
}
