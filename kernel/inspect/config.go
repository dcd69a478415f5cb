package inspect

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Config reads the word at an offset of a function's configuration space, in bytes.
type Config func(offset int) uint32

// u32 reads the word at at, 0 after the end: a capability may say that it is longer.
func (c Config) u32(at int) uint32 {
	if at >= ConfigSize {
		return 0
	}
	return c(at)
}

func (c Config) u16(at int) uint16 { return uint16(c.u32(at&^3) >> (at & 2 * 8)) }
func (c Config) u8(at int) uint8   { return uint8(c.u32(at&^3) >> (at & 3 * 8)) }

// How many there are of each, at most.
const buses, slots, functions = 256, 32, 8

// nothing is the vendor of a function that is not there.
const nothing = 0xffff

// Sizes of what Dump shows, in bytes.
const (
	HeaderSize = 0x40
	ConfigSize = 0x100
)

// Dump renders the first size bytes, 16 on a line, as lspci -x does.
func (c Config) Dump(size int) string {
	var b strings.Builder
	for at := 0; at < size; at += 16 {
		var row [16]byte
		for i := 0; i < len(row); i += 4 {
			binary.LittleEndian.PutUint32(row[i:], c(at+i))
		}
		fmt.Fprintf(&b, "%02x: % x\n", at, row)
	}
	return b.String()
}
