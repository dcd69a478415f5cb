package printk

// Trap context. Arguments are read by the kind of their type, straight from the type word:
// reflect allocates, and a type switch would not match named types such as mm.Phys.

import "unsafe"

// iface is the layout of an interface value without methods.
// Source: Go runtime/runtime2.go, eface.
type iface struct {
	typ  *typeHead
	data unsafe.Pointer
}

// typeHead is the beginning of the type descriptor, up to the kind.
// Source: Go 1.26 internal/abi/type.go, Type. TestKindsMatchReflect fails
// when a Go version moves the field.
type typeHead struct {
	size, ptrBytes    uintptr
	hash              uint32
	tflag, align, fal uint8
	kind              uint8
}

// The numbers of the kinds. Source: Go internal/abi/type.go, Kind.
const (
	kindBool          = 1
	kindInt           = 2
	kindInt8          = 3
	kindInt16         = 4
	kindInt32         = 5
	kindInt64         = 6
	kindUint          = 7
	kindUint8         = 8
	kindUint16        = 9
	kindUint32        = 10
	kindUint64        = 11
	kindUintptr       = 12
	kindChan          = 18
	kindFunc          = 19
	kindMap           = 21
	kindPointer       = 22
	kindString        = 24
	kindUnsafePointer = 26
	kindMask          = 31
)

// arg writes one argument. It takes a pointer so that the interface is not
// copied, and keeps nothing of it.
//
// Safe because: data points to a value of the kind that the type word names,
// for the kinds that are boxed; for pointer kinds it is the value. A slice
// begins with pointer and length, which is all there is to a string.
func (l *line) arg(a *any, sp spec) {
	e := (*iface)(unsafe.Pointer(a))
	if e.typ == nil {
		l.padded("<nil>", sp)
		return
	}
	switch k := e.typ.kind & kindMask; k {
	case kindBool:
		l.boolean(*(*bool)(e.data), sp)
	case kindString:
		l.text(*(*string)(e.data), sp)
	case kindFunc:
		l.pointer(codeOf(e.data), sp)
	case kindChan, kindMap, kindPointer, kindUnsafePointer:
		l.pointer(uint64(uintptr(e.data)), sp)
	default:
		if v, negative, ok := loadInteger(k, e.data); ok {
			l.integerArg(v, negative, sp)
		} else if b, ok := (*a).([]byte); ok {
			l.text(*(*string)(unsafe.Pointer(&b)), sp)
		} else {
			l.bad(sp)
		}
	}
}

// codeOf returns the address of a func value's code: its closure begins with that.
//
// Safe because: see arg.
func codeOf(closure unsafe.Pointer) uint64 {
	if closure == nil {
		return 0
	}
	return uint64(*(*uintptr)(closure))
}

// loadInteger reads an integer of kind k as magnitude and sign.
//
// Safe because: see arg.
func loadInteger(k uint8, p unsafe.Pointer) (v uint64, negative, ok bool) {
	var s int64
	switch k {
	case kindInt, kindInt64:
		s = *(*int64)(p)
	case kindInt8:
		s = int64(*(*int8)(p))
	case kindInt16:
		s = int64(*(*int16)(p))
	case kindInt32:
		s = int64(*(*int32)(p))
	case kindUint, kindUint64, kindUintptr:
		return *(*uint64)(p), false, true
	case kindUint8:
		return uint64(*(*uint8)(p)), false, true
	case kindUint16:
		return uint64(*(*uint16)(p)), false, true
	case kindUint32:
		return uint64(*(*uint32)(p)), false, true
	default:
		return 0, false, false
	}
	if s < 0 {
		return -uint64(s), true, true
	}
	return uint64(s), false, true
}
