package cpio

import (
	"fmt"
	"io"
)

// Writer writes an archive. The first error is kept, and Close returns it.
type Writer struct {
	w   io.Writer
	at  int
	err error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Add writes an entry.
func (w *Writer) Add(e Entry) error {
	if w.err == nil && (len(e.Name) == 0 || len(e.Name) >= maxName || len(e.Data) > maxContent) {
		w.err = fmt.Errorf("cpio: %q with %d bytes does not fit into an archive", e.Name, len(e.Data))
	}
	f := [fields]uint32{
		fieldIno: e.Ino, fieldMode: e.Mode, fieldUID: e.UID, fieldGID: e.GID, fieldLinks: max(e.Links, 1),
		fieldTime: e.Time, fieldSize: uint32(len(e.Data)), fieldMajor: e.Device[0], fieldMinor: e.Device[1],
		fieldName: uint32(len(e.Name) + 1),
	}
	head := []byte(magic)
	for _, v := range f {
		head = fmt.Appendf(head, "%08X", v)
	}
	w.write(head)
	w.write([]byte(e.Name + "\x00"))
	w.pad()
	w.write(e.Data)
	w.pad()
	return w.err
}

// Close writes the end of the archive. It does not close the underlying writer.
func (w *Writer) Close() error { return w.Add(Entry{Name: trailer}) }

func (w *Writer) pad() { w.write(make([]byte, align(w.at)-w.at)) }

func (w *Writer) write(p []byte) {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(p)
	w.at += n
	if err != nil {
		w.err = fmt.Errorf("cpio: %w", err)
	}
}
