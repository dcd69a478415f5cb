package export

import (
	"encoding/binary"
	"math"
)

// message is a message of protobuf that is being written. The numbers of fields are those of the format's
// description; a field that is 0 is left out, as there.
type message []byte

// number is a field of an integer, an enum or a bool.
func (m *message) number(field int, v uint64) {
	if v != 0 {
		*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3), v)
	}
}

// double is a field of type double.
func (m *message) double(field int, v float64) {
	*m = binary.LittleEndian.AppendUint64(binary.AppendUvarint(*m, uint64(field)<<3|1), math.Float64bits(v))
}

// bytes is a field of a string or of another message.
func (m *message) bytes(field int, b []byte) {
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3|2), uint64(len(b)))
	*m = append(*m, b...)
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }

// packed is a field of several integers.
func (m *message) packed(field int, all []uint64) {
	var b []byte
	for _, v := range all {
		b = binary.AppendUvarint(b, v)
	}
	m.bytes(field, b)
}
