package insn

// Walk calls f for each instruction of code, from start to end, with its offset, until f returns
// false. It returns the offset that it has reached: len(code), or where f stopped or decoding
// failed.
//
// Walk does not stop at returns or jumps: the bytes after them must be code as well. Padding
// (int3, long nops) is; a function with data in it gives an error sooner or later, and should then
// be refused as a whole.
func Walk(code []byte, f func(off int, in Inst) bool) (int, error) {
	for off := 0; off < len(code); {
		in, err := Decode(code[off:])
		if err != nil {
			return off, err
		}
		if !f(off, in) {
			return off, nil
		}
		off += int(in.Len)
	}
	return len(code), nil
}
