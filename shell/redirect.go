package shell

import (
	"errors"
	"io/fs"

	"sonde/kernel/vfs"
)

// maxPiece is how much output for a file is buffered at most, in bytes.
const maxPiece = 64 << 10

// redirection is the files of one command.
type redirection struct {
	files []*vfs.File
	outs  []*pieceWriter
}

// open opens the files and puts them into the context.
//
// Errors: those of vfs.Open.
func (r *redirection) open(c *Context, list []redirect, expand func(string) string) error {
	for _, d := range list {
		switch d.op {
		case "2>&1":
			c.Err = c.Out
			continue
		case ">&2":
			c.Out = c.Err
			continue
		}
		f, err := vfs.Open(expand(d.path), redirectFlags[d.op])
		if err != nil {
			return err
		}
		r.files = append(r.files, f)
		if d.op == "<" {
			c.In = f
			continue
		}
		w := &pieceWriter{f: f}
		r.outs = append(r.outs, w)
		if d.op[0] == '2' {
			c.Err = w
		} else {
			c.Out = w
		}
	}
	return nil
}

// close writes the buffered output and closes the files.
//
// Errors: those of vfs.Write.
func (r *redirection) close() error {
	var err error
	for _, w := range r.outs {
		err = firstOf(err, w.flush())
	}
	for _, f := range r.files {
		err = firstOf(err, vfs.Close(f))
	}
	return err
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// pieceWriter buffers output to write it in one piece: for a control file a write is a command.
type pieceWriter struct {
	f   *vfs.File
	buf []byte
	err error
}

// Write implements io.Writer.
func (w *pieceWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf, p...)
	if len(w.buf) >= maxPiece {
		return len(p), w.flush()
	}
	return len(p), nil
}

// flush writes the buffered output. An error is returned once.
func (w *pieceWriter) flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return nil
	}
	_, w.err = vfs.Write(w.f, w.buf)
	w.buf = w.buf[:0]
	var pe *fs.PathError
	if errors.As(w.err, &pe) {
		pe.Op = "write error"
	}
	return w.err
}
