package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// multibootAt is the file offset of the Multiboot2 header: the linker leaves the rest
// of the first page free, and a loader looks for it in the first 32 KiB.
const multibootAt = 0x800

// The header's tags, and a flag that says that a loader may do without one.
const (
	headerMagic    = 0xe85250d6
	headerEntry    = 3
	headerPicture  = 5
	headerOptional = 1
)

// The picture asked for, in pixels and bits of one: what every firmware has, with
// characters that can be read. A loader gives another one where it must.
const pictureWidth, pictureHeight, pictureBits = 1024, 768, 32

// multibootHeader is what makes a Multiboot2 loader take the file, enter at entry in
// 32-bit mode, and turn a picture on if it can.
//
// There is no tag that asks for a 64-bit entry or for EFI's boot services: GRUB then
// leaves those by itself, so that one entry serves all firmware. And no header of the
// first Multiboot, which QEMU would prefer.
//
// Source: Multiboot2 Specification 2.0, "The layout of Multiboot2 header".
func multibootHeader(entry uint64) []byte {
	tag := func(b []byte, typ, flags uint16, body ...uint32) []byte {
		b = binary.LittleEndian.AppendUint16(b, typ)
		b = binary.LittleEndian.AppendUint16(b, flags)
		b = binary.LittleEndian.AppendUint32(b, uint32(8+4*len(body)))
		for _, w := range body {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return append(b, make([]byte, -len(b)&7)...)
	}
	b := make([]byte, 16)
	b = tag(b, headerEntry, 0, uint32(entry))
	b = tag(b, headerPicture, headerOptional, pictureWidth, pictureHeight, pictureBits)
	b = tag(b, 0, 0)
	const i386 = 0
	for i, w := range []uint32{headerMagic, i386, uint32(len(b)), -(headerMagic + i386 + uint32(len(b)))} {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	return b
}

// putMultiboot puts the header for the entry point called name into the file, if there
// is one. It comes after the program headers are written.
//
// Errors: ErrLayout, when something else is where it belongs.
func (f *elfFile) putMultiboot(name string) error {
	entry, err := f.symbol(name)
	if err != nil {
		return nil
	}
	header := multibootHeader(physical(entry.Value))
	end := uint64(multibootAt + len(header))
	if end > f.headerRoom() || !bytes.Equal(f.data[multibootAt:end], make([]byte, len(header))) {
		return fmt.Errorf("no room for %d bytes of Multiboot2 header at %#x: %w", len(header), multibootAt, ErrLayout)
	}
	copy(f.data[multibootAt:], header)
	return nil
}
