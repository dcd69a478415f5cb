package gotypes

import "encoding/binary"

// unpacked is what a table has after its magic and its sum; repacked is the reverse.
func unpacked(blob []byte) []byte { return blob[len(magic)+sumLen:] }

func repacked(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte(magic), sum(data)), data...)
}
