package tools

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sonde/shell/coreutils"
)

// gzipCommand returns the command called gzip, gunzip or zcat.
func gzipCommand(name string) *coreutils.Command {
	return &coreutils.Command{
		Name: name, Options: "cdfk123456789",
		Usage: "[-cdfk] [-1 ... -9] [file...]",
		Help: "compress files in place, or the input; gunzip and zcat decompress " +
			"(-c: write to the output, -d: decompress, -f: replace files that are there, -k: keep the file, -1 to -9: how hard to try)",
		Run: func(u *coreutils.IO, args []string) error { return compress(u, name, args) },
	}
}

func compress(u *coreutils.IO, name string, args []string) error {
	z := packer{
		level: gzip.DefaultCompression,
		back:  name != "gzip" || u.Given('d'), force: u.Given('f'), keep: u.Given('k'),
	}
	for n := 1; n < 10; n++ {
		if u.Given('0' + byte(n)) {
			z.level = n
		}
	}
	if len(args) == 0 {
		return z.copy(u.Out, u.In)
	}
	var errs []error
	for _, path := range args {
		if err := z.file(u, path, name == "zcat" || u.Given('c')); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	return errors.Join(errs...)
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
func (z packer) file(u *coreutils.IO, path string, toOut bool) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if toOut {
		return z.copy(u.Out, in)
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
