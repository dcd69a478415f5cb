package text

// A Patch replaces the bytes Old at Addr by as many bytes New.
type Patch struct {
	Addr     uintptr
	Old, New []byte
}
