package text

// A Patch replaces the bytes Old at Addr by New, which are as many.
type Patch struct {
	Addr     uintptr
	Old, New []byte
}
