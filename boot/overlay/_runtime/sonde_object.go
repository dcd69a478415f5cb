package runtime

// Which object of the heap an address is in, for reports that name variables.
//
// Why it is here: only the heap knows where its objects begin and end.

import (
	"internal/runtime/gc"
	"unsafe"
)

// SondeObject returns where the object begins that p is in, and between which sizes in bytes the type of it may have
// (least to most); least is 0 if p is in no object. typ is the type's address, if the heap keeps it: that of an
// element, of an array. The object may be freed meanwhile, so typ may be anything.
func SondeObject(p uintptr) (begin, least, most, typ uintptr) {
	s := spanOf(p)
	if s == nil || s.state.get() != mSpanInUse || p < s.base() || p >= s.limit {
		return 0, 0, 0, 0
	}
	begin, most = s.base()+s.objIndex(p)*s.elemsize, s.elemsize
	class := s.spanclass.sizeclass()
	switch {
	case class == 0:
		return begin, 1, most, uintptr(unsafe.Pointer(s.largeType))
	case s.spanclass.noscan() || heapBitsInSpan(most):
		return begin, uintptr(gc.SizeClassToSize[class-1]) + 1, most, 0
	}
	typ = *(*uintptr)(unsafe.Pointer(begin))
	return begin + gc.MallocHeaderSize, 1, most - gc.MallocHeaderSize, typ
}
