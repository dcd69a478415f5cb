//go:build linux

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"sonde/shell/coreutils"
)

// TestAnswersOfTheKernel: a command gets as much input as it asks for, and no more is read.
func TestAnswersOfTheKernel(t *testing.T) {
	var out, errs bytes.Buffer
	in := strings.NewReader("typed, and left")
	u := &coreutils.IO{In: in, Out: &out, Err: &errs}
	written := make(chan string, 1)
	w := writerFunc(func(p []byte) { written <- string(p) })
	answer := "\x01\x00\x00\x00\x02\x00\x00\x00hi\x02\x00\x00\x00\x03\x00\x00\x00bad\x04\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00"
	end := "\x01\x00\x00\x00\x01\x00\x00\x00!\x03\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00"
	asked, rest := strings.NewReader(answer), strings.NewReader(end)
	err := answered(u, io.MultiReader(asked, readerFunc(func(p []byte) (int, error) {
		if rest.Len() == len(end) {
			if part := <-written; part != "\x02\x00\x00\x00\x05\x00\x00\x00typed" {
				t.Errorf("input: %q", part)
			}
		}
		return rest.Read(p)
	})), w)
	if err != coreutils.Status(5) || out.String() != "hi!" || errs.String() != "bad" || in.Len() != len(", and left") {
		t.Errorf("%v, %q, %q, %d bytes left", err, &out, &errs, in.Len())
	}
	if err := answered(u, strings.NewReader(answer[:9]), w); err == nil {
		t.Error("half an answer is none")
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
