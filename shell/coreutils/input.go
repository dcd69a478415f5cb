package coreutils

import (
	"bufio"
	"errors"
	"io"
	"syscall"
)

// Each calls do for each of the files, or for the input, whose name is "-", if there are none. What is
// wrong with a file is printed, and the others are still read.
//
// Errors: Failed; what ends the command.
func (u *IO) Each(files []string, do func(name string, r io.Reader) error) error {
	if len(files) == 0 {
		files = []string{"-"}
	}
	var failed error
	for _, file := range files {
		err := u.open(file, do)
		if errors.As(err, new(Status)) || errors.Is(err, syscall.EPIPE) {
			return err
		}
		if err != nil {
			Complain(u.Err, u.Name, Message(u.Name, err))
			failed = Failed
		}
	}
	return failed
}

func (u *IO) open(file string, do func(string, io.Reader) error) error {
	if file == "-" {
		return do(file, u.In)
	}
	f, err := u.Files.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(file, f)
}

// Filter is Each with a writer that has a buffer. It is written before more is read, which may have to
// wait.
func (u *IO) Filter(files []string, do func(w *bufio.Writer, name string, r io.Reader) error) error {
	w := bufio.NewWriter(u.Out)
	err := u.Each(files, func(name string, r io.Reader) error { return do(w, name, flushing{r, w}) })
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	return err
}

// flushing is a reader before which a writer is flushed. It implements io.Reader.
type flushing struct {
	io.Reader
	w *bufio.Writer
}

func (f flushing) Read(p []byte) (int, error) {
	if err := f.w.Flush(); err != nil {
		return 0, err
	}
	return f.Reader.Read(p)
}

// EachLine calls f with each line and its newline, which the last line may lack, as soon as it is
// complete, until f returns an error. io.EOF ends the reading without one.
func EachLine(r io.Reader, f func(line string) error) error {
	for b := bufio.NewReader(r); ; {
		line, err := b.ReadString('\n')
		if line != "" {
			if err := f(line); err != nil {
				return notEnd(err)
			}
		}
		if err != nil {
			return notEnd(err)
		}
	}
}

// notEnd returns err, but nil for the end of a file.
func notEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
