package tools

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Gzip returns the command called gzip, gunzip or zcat: gzip [-cdfk] [-1 … -9] [FILE...]. Without a
// file, it works on its input. A file that is done is replaced, unless -k or -c is given.
func Gzip(name string) Command {
	return func(s Streams, args []string) error {
		f := Flags(s, name)
		out := f.Bool("c", name == "zcat", "write to the output, and leave the file alone")
		back := f.Bool("d", name != "gzip", "decompress")
		force := f.Bool("f", false, "replace files that are there")
		keep := f.Bool("k", false, "leave the file alone")
		levels := make([]*bool, 10)
		for n := 1; n < len(levels); n++ {
			levels[n] = f.Bool(fmt.Sprint(n), false, "how hard to try")
		}
		if err := Parse(f, args); err != nil {
			return err
		}
		z := packer{level: gzip.DefaultCompression, back: *back, force: *force, keep: *keep}
		for n, given := range levels {
			if given != nil && *given {
				z.level = n
			}
		}
		if f.NArg() == 0 {
			return z.copy(s.Out, s.In)
		}
		var errs []error
		for _, path := range f.Args() {
			if err := z.file(s, path, *out); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", path, err))
			}
		}
		return errors.Join(errs...)
	}
}

// packer is what the flags say.
type packer struct {
	level             int
	back, force, keep bool
}

func (z packer) copy(w io.Writer, r io.Reader) error {
	if z.back {
		in, err := gzip.NewReader(r)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, in)
		return err
	}
	out, err := gzip.NewWriterLevel(w, z.level)
	if err == nil {
		_, err = io.Copy(out, r)
	}
	if err != nil {
		return err
	}
	return out.Close()
}

// file works on one file. What it has made is removed after an error.
func (z packer) file(s Streams, path string, toOut bool) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if toOut {
		return z.copy(s.Out, in)
	}
	name, isPacked := strings.CutSuffix(path, ".gz")
	switch {
	case z.back && !isPacked:
		return errors.New("the name does not end in .gz")
	case !z.back && isPacked && !z.force:
		return errors.New("the name ends in .gz already")
	case !z.back:
		name = path + ".gz"
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if z.force {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	to, err := os.OpenFile(name, how, 0o644)
	if err != nil {
		return err
	}
	if info, e := in.Stat(); e == nil {
		to.Chmod(info.Mode().Perm())
	}
	if err := errors.Join(z.copy(to, in), to.Close()); err != nil {
		os.Remove(name)
		return err
	}
	if z.keep {
		return nil
	}
	return os.Remove(path)
}
