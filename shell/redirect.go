package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/vfs"
)

// maxPiece is how much output for a file is buffered at most, in bytes.
const maxPiece = 64 << 10

// redirection is the files of one statement.
type redirection struct {
	files []*vfs.File
	outs  []*pieceWriter
}

// redirectFlags are the open flags of the redirections.
var redirectFlags = map[syntax.RedirOperator]int{
	syntax.RdrIn:    os.O_RDONLY,
	syntax.RdrInOut: os.O_RDWR | os.O_CREATE,
	syntax.RdrOut:   os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
	syntax.ClbOut:   os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
	syntax.RdrAll:   os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
	syntax.AppOut:   os.O_WRONLY | os.O_CREATE | os.O_APPEND,
	syntax.AppAll:   os.O_WRONLY | os.O_CREATE | os.O_APPEND,
}

// redirect puts the files of a statement in place of the shell's own.
//
// Errors: those of vfs.Open and of expansion. The redirection must be closed all the same.
func (s *Shell) redirect(list []*syntax.Redirect) (*redirection, error) {
	r := new(redirection)
	for _, d := range list {
		if err := s.redirectOne(r, d); err != nil {
			return r, err
		}
	}
	for _, w := range r.outs {
		w.own = true
	}
	return r, nil
}

func (s *Shell) redirectOne(r *redirection, d *syntax.Redirect) error {
	fd := ""
	if d.N != nil {
		fd = d.N.Value
	}
	word, err := s.literal(d.Word)
	if err != nil {
		return err
	}
	op := d.Op
	if op == syntax.DplOut && fd == "" && word != "-" && strings.Trim(word, "0123456789") != "" {
		op = syntax.RdrAll // >& FILE
	}
	switch op {
	case syntax.Hdoc, syntax.DashHdoc:
		text, err := s.document(d.Hdoc)
		if op == syntax.DashHdoc {
			text = withoutTabs(text)
		}
		s.In = strings.NewReader(text)
		return err
	case syntax.WordHdoc:
		s.In = strings.NewReader(word + "\n")
		return nil
	case syntax.DplOut, syntax.DplIn:
		return s.duplicate(fd, word, op == syntax.DplIn)
	}
	return s.openFor(r, op, fd, word)
}

// openFor opens a file for a redirection.
func (s *Shell) openFor(r *redirection, op syntax.RedirOperator, fd, word string) error {
	flags, ok := redirectFlags[op]
	if !ok {
		return fmt.Errorf("%s is not supported", op)
	}
	f, err := vfs.Open(s.path(word), flags)
	if err != nil {
		return err
	}
	r.files = append(r.files, f)
	if op == syntax.RdrIn || op == syntax.RdrInOut {
		return s.connect(fd, "0", f, nil)
	}
	w := &pieceWriter{f: f}
	r.outs = append(r.outs, w)
	if op == syntax.RdrAll || op == syntax.AppAll {
		s.Out, s.Err = w, w
		return nil
	}
	return s.connect(fd, "1", nil, w)
}

// connect puts a reader or a writer where a descriptor is.
func (s *Shell) connect(fd, usual string, in io.Reader, out io.Writer) error {
	if fd == "" {
		fd = usual
	}
	switch {
	case fd == "0" && in != nil:
		s.In = in
	case fd == "1" && out != nil:
		s.Out = out
	case fd == "2" && out != nil:
		s.Err = out
	default:
		return fmt.Errorf("descriptor %s cannot be redirected: there are 0 for input, 1 for output and 2 for errors", fd)
	}
	return nil
}

// duplicate carries out N>&M and N<&M.
func (s *Shell) duplicate(fd, word string, input bool) error {
	switch {
	case word == "-" && input:
		s.In = strings.NewReader("")
	case word == "-":
		return s.connect(fd, "1", nil, io.Discard)
	case word == "0" && input:
	case word == "1":
		return s.connect(fd, "1", nil, s.Out)
	case word == "2":
		return s.connect(fd, "1", nil, s.Err)
	default:
		return fmt.Errorf("descriptor %s is not open", word)
	}
	return nil
}

// withoutTabs removes the tabs at the beginning of lines.
func withoutTabs(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	return strings.Join(lines, "")
}

// close writes the buffered output and closes the files.
//
// Errors: those of vfs.Write.
func (r *redirection) close() error {
	var err error
	for _, w := range r.outs {
		err = cmp.Or(err, w.flush())
	}
	for _, f := range r.files {
		err = cmp.Or(err, vfs.Close(f))
	}
	return err
}

// pieceWriter buffers output to write it in one piece: for a control file a write is a command.
// It implements io.Writer.
type pieceWriter struct {
	f   *vfs.File
	own bool // of the statement that runs, which writes when it has run
	buf []byte
	err error
}

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
	_, w.err = vfs.Write(w.f, w.buf, nil)
	w.buf = w.buf[:0]
	var pe *fs.PathError
	if errors.As(w.err, &pe) {
		pe.Op = "write error"
	}
	return w.err
}
