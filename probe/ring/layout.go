package ring

import "unsafe"

// Layout is where things are in a Writer, in bytes, for code that is made at run time: eBPF programs write
// records without calling anything.
var Layout = struct{ Size, Memory, Head, Done, Open, Written, Tail uintptr }{
	Size:   unsafe.Sizeof(Writer{}),
	Memory: unsafe.Offsetof(Writer{}.memory), Head: unsafe.Offsetof(Writer{}.head), Done: unsafe.Offsetof(Writer{}.done),
	Open: unsafe.Offsetof(Writer{}.open), Written: unsafe.Offsetof(Writer{}.written), Tail: unsafe.Offsetof(Writer{}.tail),
}

// Each record begins with a header of HeaderSize bytes: its size and its time. Records are aligned to Align.
const (
	HeaderSize = headerSize
	Align      = align
)

// Largest is how many bytes a record can have in a part of so many.
func Largest(size int) int { return size/2 - headerSize }
