// Package tools has small commands that scripts need and that u-root does not provide as
// libraries. They implement a part of POSIX; a flag that they lack is an error.
package tools

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Command is a command; args are without its name. An error is printed and makes
// the program's status 1, except for a Status.
type Command func(s Streams, args []string) error

// Status is the exit status of a command that has printed already what was wrong.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// usage is the exit status for wrong arguments.
const usage Status = 2

// Flags returns an empty set of flags for the command called name.
func Flags(s Streams, name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(s.Err)
	return f
}

// Parse reads args. Flags of one letter may stand together. It prints what is wrong with them.
//
// Errors: a Status.
func Parse(f *flag.FlagSet, args []string) error {
	switch err := f.Parse(apart(f, args)); {
	case errors.Is(err, flag.ErrHelp):
		return Status(0)
	case err != nil:
		return usage
	}
	return nil
}

// apart splits groups of flags: -sf becomes -s -f.
func apart(f *flag.FlagSet, args []string) (all []string) {
	for i, a := range args {
		if len(a) < 2 || a[0] != '-' || a == "--" {
			return append(all, args[i:]...)
		}
		if !isGroup(f, a[1:]) {
			all = append(all, a)
			continue
		}
		for _, c := range a[1:] {
			all = append(all, "-"+string(c))
		}
	}
	return all
}

// isGroup reports whether letters are several flags without values, and not the name of one.
func isGroup(f *flag.FlagSet, letters string) bool {
	if f.Lookup(letters) != nil {
		return false
	}
	return !strings.ContainsFunc(letters, func(c rune) bool {
		one := f.Lookup(string(c))
		if one == nil {
			return true
		}
		_, isBool := one.Value.(interface{ IsBoolFlag() bool })
		return !isBool
	})
}

// input is a file to read, or the standard input, whose name is "-".
type input struct {
	name string
	io.Reader
}

// each calls do for each of the files, or for the standard input if there are none. A file that cannot
// be opened is reported, and the others are still read.
//
// Errors: the first one.
func each(s Streams, name string, files []string, do func(input) error) error {
	if len(files) == 0 {
		files = []string{"-"}
	}
	var failed error
	for _, file := range files {
		if err := open(s, file, do); err != nil {
			fmt.Fprintf(s.Err, "%s: %v\n", name, err)
			failed = Status(1)
		}
	}
	return failed
}

func open(s Streams, file string, do func(input) error) error {
	if file == "-" {
		return do(input{file, s.In})
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(input{file, f})
}

// lines calls do for each line of r and its newline, which the last line may lack, as long as do
// returns true.
func lines(r io.Reader, do func(line, end string) (more bool)) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if err != nil && line == "" {
			return ended(err)
		}
		line, cut := strings.CutSuffix(line, "\n")
		end := ""
		if cut {
			end = "\n"
		}
		if !do(line, end) {
			return nil
		}
		if err != nil {
			return ended(err)
		}
	}
}

func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// buffered calls do with a writer that has a buffer.
func buffered(w io.Writer, do func(w *bufio.Writer) error) error {
	b := bufio.NewWriter(w)
	return errors.Join(do(b), b.Flush())
}
