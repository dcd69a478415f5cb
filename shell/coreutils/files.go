package coreutils

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

var mkdir = &Command{
	Name:    "mkdir",
	Usage:   "[-p] directory...",
	Options: "p",
	Help:    "make directories (-p: also those that lead there, unless they are there)",
	Run: func(u *IO, args []string) error {
		return EachPath(args, func(path string) error {
			if u.Given('p') {
				return u.Files.MkdirAll(path, 0o777)
			}
			return u.Files.Mkdir(path, 0o777)
		})
	},
}

var rm = &Command{
	Name:    "rm",
	Usage:   "[-fr] path...",
	Options: "frR",
	Help:    "remove files and empty directories (-f: do not mind those that are not there, -r: and what is in directories)",
	Run: func(u *IO, args []string) error {
		force, all := u.Given('f'), u.Given('r') || u.Given('R')
		if force && len(args) == 0 {
			return nil
		}
		return EachPath(args, func(path string) error {
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
	Name:    "ls",
	Usage:   "[-1adhlFRS] [path...]",
	Options: "1adhlFRS",
	Help: "list directories (-l: with mode, size and time; -h: with sizes in K, M and G; -d: the directory itself; -a: names that begin with a dot, too; " +
		"-F: with a sign for the kind; -R: with all below; -S: the largest first)",
	Run: func(u *IO, args []string) error {
		if len(args) == 0 {
			args = []string{"."}
		}
		l := lister{IO: u, long: u.Given('l'), all: u.Given('a'), human: u.Given('h'), kind: u.Given('F'), below: u.Given('R'), bySize: u.Given('S')}
		var errs []error
		for i, path := range args {
			info, err := u.Files.Lstat(path)
			if err == nil && info.Mode()&fs.ModeSymlink != 0 && !l.long { // -l is about the link
				info, err = u.Files.Stat(path)
			}
			switch {
			case err != nil:
			case u.Given('d') || !info.IsDir():
				err = l.line(info, path, path)
			default:
				if len(args) > 1 || l.below {
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
	long, all, human, kind, below, bySize bool
}

// dir lists a directory, and those below it if that was asked for.
func (l lister) dir(path string) error {
	all, err := l.entries(path)
	if err != nil {
		return err
	}
	for _, info := range all {
		if err := l.line(info, path+"/"+info.Name(), info.Name()); err != nil {
			return err
		}
	}
	var errs []error
	for _, info := range all {
		if at := path + "/" + info.Name(); l.below && info.IsDir() {
			fmt.Fprintf(l.Out, "\n%s:\n", at)
			errs = append(errs, l.dir(at))
		}
	}
	return errors.Join(errs...)
}

// entries are what is listed of a directory, in that order. One that is removed meanwhile is left out.
func (l lister) entries(path string) (all []fs.FileInfo, err error) {
	entries, err := l.Files.ReadDir(path)
	for _, e := range entries {
		if !l.all && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := e.Info()
		switch {
		case err == nil:
			all = append(all, info)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if l.bySize {
		slices.SortStableFunc(all, func(a, b fs.FileInfo) int { return cmp.Compare(b.Size(), a.Size()) })
	}
	return all, err
}

func (l lister) line(info fs.FileInfo, path, name string) error {
	if l.kind {
		name += sign(info.Mode())
	}
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
	_, err := fmt.Fprintf(l.Out, "%s %8s %16s %s\n", modeText(info.Mode()), l.size(info.Size()), when, name)
	return err
}

// size is a number of bytes, as ls -h writes it if that was asked for: two digits at least, rounded up.
func (l lister) size(n int64) string {
	if !l.human || n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	unit, each := 0, int64(1024)
	for ; n > 1023*each && unit < 5; unit++ {
		each *= 1024
	}
	if tenths := (n*10-1)/each + 1; tenths < 100 {
		return fmt.Sprintf("%d.%d%c", tenths/10, tenths%10, "KMGTPE"[unit])
	}
	return fmt.Sprintf("%d%c", (n-1)/each+1, "KMGTPE"[unit])
}

// sign is what -F puts after a name.
func sign(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "/"
	case m&fs.ModeSymlink != 0:
		return "@"
	case m&fs.ModeNamedPipe != 0:
		return "|"
	case m&fs.ModeSocket != 0:
		return "="
	case m.IsRegular() && m&0o111 != 0:
		return "*"
	}
	return ""
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
