package coreutils

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
)

var mkdir = &Command{
	Name:  "mkdir",
	Usage: "[-p] directory...",
	Help:  "make directories (-p: also those that lead there, unless they are there)",
	Run: func(u *IO, args []string) error {
		opts, paths, err := Options(args, "p")
		if err != nil {
			return err
		}
		return EachPath(paths, func(path string) error {
			if Given(opts, 'p') {
				return u.Files.MkdirAll(path, 0o777)
			}
			return u.Files.Mkdir(path, 0o777)
		})
	},
}

var rm = &Command{
	Name:  "rm",
	Usage: "[-fr] path...",
	Help:  "remove files and empty directories (-f: do not mind those that are not there, -r: and what is in directories)",
	Run: func(u *IO, args []string) error {
		opts, paths, err := Options(args, "frR")
		force, all := Given(opts, 'f'), Given(opts, 'r') || Given(opts, 'R')
		if err != nil || force && len(paths) == 0 {
			return err
		}
		return EachPath(paths, func(path string) error {
			err := u.remove(path, all)
			if force && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
	},
}

// remove removes a file or a directory, with all that is in it if the caller wants that.
func (u *IO) remove(path string, all bool) error {
	err := u.Files.Remove(path)
	if !all || !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	entries, err := u.Files.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := u.remove(path+"/"+e.Name(), all); err != nil {
			return err
		}
	}
	return u.Files.Remove(path)
}

// EachPath calls f with each path, also after an error.
func EachPath(paths []string, f func(string) error) error {
	if len(paths) == 0 {
		return Usagef("no path given")
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, f(path))
	}
	return errors.Join(errs...)
}

var ls = &Command{
	Name:  "ls",
	Usage: "[-1adl] [path...]",
	Help:  "list directories (-l: with mode, size and time; -d: the directory itself; -a: names that begin with a dot, too)",
	Run: func(u *IO, args []string) error {
		opts, paths, err := Options(args, "1adl")
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			paths = []string{"."}
		}
		l := lister{u, Given(opts, 'l'), Given(opts, 'a')}
		var errs []error
		for i, path := range paths {
			info, err := u.Files.Lstat(path)
			if err == nil && info.Mode()&fs.ModeSymlink != 0 && !l.long { // -l is about the link
				info, err = u.Files.Stat(path)
			}
			switch {
			case err != nil:
			case Given(opts, 'd') || !info.IsDir():
				err = l.line(info, path, path)
			default:
				if len(paths) > 1 {
					fmt.Fprintf(u.Out, "%s%s:\n", gap(i), path)
				}
				err = l.dir(path)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	},
}

// gap is an empty line in front of each directory but the first.
func gap(i int) string {
	if i > 0 {
		return "\n"
	}
	return ""
}

// lister prints lines about files.
type lister struct {
	*IO
	long, all bool
}

func (l lister) dir(path string) error {
	entries, err := l.Files.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !l.all && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := e.Info()
		if err == nil {
			err = l.line(info, path+"/"+e.Name(), e.Name())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // that one has been removed meanwhile
			return err
		}
	}
	return nil
}

func (l lister) line(info fs.FileInfo, path, name string) error {
	if !l.long {
		_, err := io.WriteString(l.Out, name+"\n")
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err := l.Files.Readlink(path); err == nil {
			name += " -> " + target
		}
	}
	when := "-"
	if t := info.ModTime(); !t.IsZero() {
		when = t.Format("2006-01-02 15:04")
	}
	_, err := fmt.Fprintf(l.Out, "%s %8d %16s %s\n", modeText(info.Mode()), info.Size(), when, name)
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
