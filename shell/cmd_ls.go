package shell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"sonde/kernel/vfs"
)

var lsCommand = &Command{
	Name:  "ls",
	Usage: "[-ld] [path...]",
	Help:  "list directories (-l: with mode, size and time; -d: the directory itself)",
	Run:   ls,
}

func ls(c *Context, args []string) error {
	opts, paths, err := Options(args, "ld1a")
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{c.Shell.dir}
	}
	_, long := opts['l']
	_, self := opts['d']
	var errs []error
	for i, path := range paths {
		info, err := vfs.Stat(c.path(path))
		switch {
		case err != nil:
		case self || !info.IsDir():
			err = lsLine(c.Out, info, path, long)
		default:
			if len(paths) > 1 {
				fmt.Fprintf(c.Out, "%s%s:\n", gap(i), path)
			}
			err = lsDir(c.Out, c.path(path), long)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// gap is an empty line in front of each directory but the first.
func gap(i int) string {
	if i > 0 {
		return "\n"
	}
	return ""
}

func lsDir(w io.Writer, path string, long bool) error {
	entries, err := vfs.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil {
			err = lsLine(w, info, e.Name(), long)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func lsLine(w io.Writer, info fs.FileInfo, name string, long bool) error {
	if !long {
		_, err := fmt.Fprintln(w, name)
		return err
	}
	when := "-"
	if t := info.ModTime(); !t.IsZero() {
		when = t.Format("2006-01-02 15:04")
	}
	_, err := fmt.Fprintf(w, "%s %8d %16s %s\n", modeText(info.Mode()), info.Size(), when, name)
	return err
}

// modeText formats a mode as ls does: "drwxr-xr-x".
func modeText(m fs.FileMode) string {
	text := []byte("-rwxrwxrwx")
	for i := range 9 {
		if m&(1<<(8-i)) == 0 {
			text[i+1] = '-'
		}
	}
	switch m & fs.ModeType {
	case fs.ModeDir:
		text[0] = 'd'
	case fs.ModeSymlink:
		text[0] = 'l'
	case fs.ModeNamedPipe:
		text[0] = 'p'
	case fs.ModeDevice | fs.ModeCharDevice:
		text[0] = 'c'
	}
	if m&fs.ModeSticky != 0 {
		text[9] = 't'
	}
	return string(text)
}
