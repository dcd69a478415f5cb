// Package displace corrects displacements that are relative to the end of an instruction.
package displace

// Corrected returns the displacement that an instruction needs in a copy, to refer to what the original refers to. Both
// are as long, so the lengths cancel out. It returns false if the number has more than 32 bits.
func Corrected(rel int32, original, moved uint64) (int32, bool) {
	far := int64(rel) + int64(original-moved)
	return int32(far), int64(int32(far)) == far
}
