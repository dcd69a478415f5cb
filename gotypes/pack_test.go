package gotypes

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"
)

// unpacked is what a table has behind its magic, without compression; repacked is the reverse.
func unpacked(t testing.TB, blob []byte) []byte {
	t.Helper()
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(blob[len(magic):])))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func repacked(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(magic)
	w, err := flate.NewWriter(&b, flate.HuffmanOnly)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}
