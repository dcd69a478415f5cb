package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrLeft says that a student's files cannot be built as they are.
var ErrLeft = errors.New("does not build")

// maxFile is the most that a file of a lab may have, in bytes.
const maxFile = 1 << 20

// take copies the files of a lab from the student's folder to dir, and nothing else. It returns what
// it left aside.
//
// Errors: ErrLeft, with the file and what is wrong with it.
func (l *Lab) take(from, dir, goVersion string) (left []string, err error) {
	entries, err := os.ReadDir(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no folder %s; make lab LAB=%d copies the starter to lab/%d", ErrLeft, from, l.N, l.N)
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLeft, err)
	}
	for _, e := range entries {
		if !slices.Contains(l.Files, e.Name()) && !slices.Contains(l.Given, e.Name()) {
			left = append(left, fmt.Sprintf("%q", e.Name()))
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, name := range l.Files {
		path := filepath.Join(from, name)
		text, err := readPlain(path)
		if err == nil && strings.HasSuffix(name, ".go") {
			err = l.allowed(path, text)
		}
		if err != nil {
			return left, fmt.Errorf("%w: %w", ErrLeft, err)
		}
		if slices.Contains(l.Host, name) {
			name = aside(name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return left, err
		}
	}
	mod := fmt.Sprintf("module %s\n\ngo %s\n", l.Module, goVersion)
	return left, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644)
}

// readPlain reads a file that is neither a link nor too large.
func readPlain(path string) ([]byte, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s is missing", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a plain file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), maxFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// pure are the packages that code for the host may use: none of them reaches files, other programs, the
// network or memory by address. So what is built for the host can only compute.
var pure = []string{"cmp", "encoding/binary", "errors", "maps", "math/bits", "slices", "sort", "strconv", "strings", "sonde/arch/amd64/insn"}

// allowed refuses what no lab needs: the grader's own packages, C, and names of other packages that
// are not public; in code for the host, all packages that do more than compute.
func (l *Lab) allowed(path string, text []byte) error {
	host := slices.Contains(l.Host, filepath.Base(path))
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, i := range f.Imports {
		name := strings.Trim(i.Path.Value, "`\"")
		if name == "C" || name == "sonde/course" || strings.HasPrefix(name, "sonde/course/") {
			return fmt.Errorf("%v: a lab must not import %q", set.Position(i.Pos()), name)
		}
		if host && !slices.Contains(pure, name) {
			return fmt.Errorf("%v: code for the host must not import %q, only %s", set.Position(i.Pos()), name, strings.Join(pure, ", "))
		}
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, "//go:linkname") {
				return fmt.Errorf("%v: a lab must not use //go:linkname", set.Position(c.Pos()))
			}
		}
	}
	return nil
}
