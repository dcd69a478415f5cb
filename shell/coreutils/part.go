package coreutils

import "encoding/binary"

// The kinds of parts that a program writes and reads which hands a command over to the kernel's shell: shell/handed.go
// has all of it.
const (
	HandsCommand, HandsInput, HandsInterrupt   = 1, 2, 3
	GetsOutput, GetsErrors, GetsEnd, GetsAsked = 1, 2, 3, 4
)

// Part is a part with its head.
func Part(kind uint32, data []byte) []byte {
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, 8+len(data)), kind)
	return append(binary.LittleEndian.AppendUint32(head, uint32(len(data))), data...)
}
