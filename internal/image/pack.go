package image

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// pack compresses the debugging sections again, as well as zlib can: the linker is in a hurry. What
// is behind them moves up. It must come first: nothing may have been appended.
//
// Errors: ErrLayout.
func (f *elfFile) pack() error {
	headers := make([]elf.Section64, f.head.Shnum)
	at := f.data[f.head.Shoff:]
	if _, err := binary.Decode(at, binary.LittleEndian, headers); err != nil {
		return fmt.Errorf("%w: %w", ErrLayout, err)
	}
	var list []*elf.Section64 // those that are not loaded, as they lie in the file
	for i := range headers {
		if h := &headers[i]; h.Flags&uint64(elf.SHF_ALLOC) == 0 && h.Type != uint32(elf.SHT_NULL) && h.Type != uint32(elf.SHT_NOBITS) {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *elf.Section64) int { return int(a.Off) - int(b.Off) })
	if list[0].Off < f.loadedEnd() {
		return fmt.Errorf("a section of debugging lies before loaded ones: %w", ErrLayout)
	}
	packed := slices.Clone(f.data[:list[0].Off])
	for _, h := range list {
		b, err := packSection(h, f.data[h.Off:h.Off+h.Size])
		if err != nil {
			return err
		}
		packed = append(packed, make([]byte, alignUp(uint64(len(packed)), max(h.Addralign, 1))-uint64(len(packed)))...)
		h.Off, h.Size = uint64(len(packed)), uint64(len(b))
		packed = append(packed, b...)
	}
	f.data = packed
	_, err := binary.Encode(f.data[f.head.Shoff:], binary.LittleEndian, headers)
	return err
}

// loadedEnd is the offset behind all that is loaded.
func (f *elfFile) loadedEnd() (end uint64) {
	for _, p := range f.progs {
		if p.Type == uint32(elf.PT_LOAD) {
			end = max(end, p.Off+p.Filesz)
		}
	}
	return end
}

// packSection returns a section's bytes, compressed again if they are compressed.
func packSection(h *elf.Section64, b []byte) ([]byte, error) {
	var head elf.Chdr64
	size := binary.Size(head)
	if h.Flags&uint64(elf.SHF_COMPRESSED) == 0 || len(b) < size {
		return b, nil
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &head); err != nil || head.Type != uint32(elf.COMPRESS_ZLIB) {
		return b, err
	}
	r, err := zlib.NewReader(bytes.NewReader(b[size:]))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	out := bytes.NewBuffer(slices.Clone(b[:size]))
	w, _ := zlib.NewWriterLevel(out, zlib.BestCompression)
	if _, err := io.Copy(w, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
