package gotypes

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"strings"
)

// maxPacked is how many bytes a damaged table may make of a few.
const maxPacked = 1 << 20

// numbers writes numbers and strings, or reads them: each call returns the number, and a reader ignores
// the one that it is given. Numbers and letters lie apart, which makes them a tenth smaller.
type numbers struct {
	list, letters []byte // written; list is also what is still to be read
	text          string // letters that are still to be read
	reads         bool
	bad           bool // more was read than there is, or what was written cannot be read
}

// unpackNumbers returns a reader of what bytes has packed.
func unpackNumbers(packed []byte) numbers {
	all, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxPacked))
	n, head := binary.Uvarint(all)
	if err != nil || head <= 0 || n > uint64(len(all)-head) {
		return numbers{reads: true, bad: true}
	}
	return numbers{list: all[head:][:n], text: string(all[head:][n:]), reads: true}
}

// bytes returns what has been written, packed.
func (c *numbers) bytes() []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err) // there is no such level
	}
	for _, part := range [][]byte{binary.AppendUvarint(nil, uint64(len(c.list))), c.list, c.letters} {
		w.Write(part) // a buffer takes everything
	}
	w.Close()
	return b.Bytes()
}

// number codes a number up to maxNumber.
func (c *numbers) number(v int) int {
	if !c.reads {
		c.bad = c.bad || v < 0 || v > maxNumber
		c.list = binary.AppendUvarint(c.list, uint64(v))
		return v
	}
	n, size := binary.Uvarint(c.list)
	if size <= 0 || n > maxNumber {
		c.bad = true
		return 0
	}
	c.list = c.list[size:]
	return int(n)
}

// spell codes a string in which no byte is zero.
func (c *numbers) spell(s string) string {
	if !c.reads {
		c.letters = append(append(c.letters, s...), 0)
		return s
	}
	s, rest, ok := strings.Cut(c.text, "\x00")
	c.text, c.bad = rest, c.bad || !ok
	return s
}
