package gotypes

import "reflect"

// sizes are those of types whose kind says it: in bytes.
var sizes = [...]int{
	reflect.Bool: 1, reflect.Int: 8, reflect.Int8: 1, reflect.Int16: 2, reflect.Int32: 4, reflect.Int64: 8,
	reflect.Uint: 8, reflect.Uint8: 1, reflect.Uint16: 2, reflect.Uint32: 4, reflect.Uint64: 8, reflect.Uintptr: 8,
	reflect.Float32: 4, reflect.Float64: 8, reflect.Complex64: 8, reflect.Complex128: 16,
	reflect.Chan: 8, reflect.Func: 8, reflect.Interface: 16, reflect.Map: 8, reflect.Pointer: 8,
	reflect.Slice: 24, reflect.String: 16, reflect.UnsafePointer: 8,
}

// layOut sets the size, the alignment and the offsets of type id, as the compiler computes them for
// amd64. It returns false if the type contains itself.
//
// Source: Go, cmd/compile/internal/types/size.go, CalcSize and CalcStructSize.
func layOut(types []Desc, id ID, depth int) bool {
	x := &types[id]
	if x.Align != 0 {
		return true
	}
	if depth > maxDepth {
		return false
	}
	switch x.Kind {
	case reflect.Array:
		if !layOut(types, x.Elem, depth+1) {
			return false
		}
		of := &types[x.Elem]
		if of.Size > 0 && x.Len > maxSize/of.Size {
			return false
		}
		x.Size, x.Align = x.Len*of.Size, of.Align
	case reflect.Struct:
		return layOutStruct(types, x, depth)
	default:
		x.Size = sizes[x.Kind]
		x.Align = max(1, min(x.Size, 8))
		if x.Kind == reflect.Complex64 {
			x.Align = 4
		}
	}
	return true
}

func layOutStruct(types []Desc, x *Desc, depth int) bool {
	size, align := 0, 1
	for i := range x.Fields {
		f := &x.Fields[i]
		if !layOut(types, f.Type, depth+1) {
			return false
		}
		of := &types[f.Type]
		size = alignUp(size, of.Align)
		f.Offset = size
		size += of.Size
		align = max(align, of.Align)
		if size < 0 || size > maxSize {
			return false
		}
		if i == len(x.Fields)-1 && of.Size == 0 && size > 0 {
			size++ // so that a pointer to the last field points into the struct
		}
	}
	x.Size, x.Align = alignUp(size, align), align
	return true
}

const (
	maxDepth = 64      // of types in types
	maxSize  = 1 << 52 // bytes
)
