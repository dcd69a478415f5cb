package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrLab says that the description of a lab or of its tests is not well formed.
var ErrLab = errors.New("bad description of a lab")

// A Lab is what course/labs/N/lab.txt says.
type Lab struct {
	N        int
	Dir      string
	Title    string
	Module   string   // the name under which insmod knows it; other names begin with it
	Files    []string // taken from the student's folder
	Host     []string // those of Files that are built for the host, beside the program in host/
	Given    []string // what is in the starter and stays as it is: the grader has its own
	Programs []string // built from a folder of the lab, for the kernel: with symbols, and without
	Script   string   // the file of Files that bt runs, if it is not empty, instead of the module
	Answer   string   // the file of Files with the answers, or ""
	Hidden   string   // how many hidden tests there are, in words
	Start    int      // points that the starter gets, of all tests
}

// readLab reads a lab's description.
//
// Errors: ErrLab, with the line; there is no such lab.
func readLab(root string, n int) (*Lab, error) {
	dir := filepath.Join(root, "course", "labs", strconv.Itoa(n))
	path := filepath.Join(dir, "lab.txt")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no lab %d: %s is missing", n, path)
	} else if err != nil {
		return nil, err
	}
	l := &Lab{N: n, Dir: dir}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := l.set(word, rest); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", path, ErrLab, err)
		}
	}
	if len(l.Programs) != 0 && len(l.Programs) != 2 {
		return nil, fmt.Errorf("%s: %w: PROGRAM has two names", path, ErrLab)
	}
	if l.Title == "" || l.Module == "" || len(l.Files) == 0 {
		return nil, fmt.Errorf("%s: %w: LAB, MODULE or FILES is missing", path, ErrLab)
	}
	return l, nil
}

func (l *Lab) set(word, rest string) (err error) {
	switch word {
	case "LAB":
		l.Title = rest
	case "MODULE":
		l.Module = rest
	case "FILES":
		l.Files = strings.Fields(rest)
	case "HOST":
		l.Host = strings.Fields(rest)
	case "GIVEN":
		l.Given = strings.Fields(rest)
	case "SCRIPT":
		l.Script = rest
	case "PROGRAM":
		l.Programs = strings.Fields(rest)
	case "ANSWERS":
		l.Answer = rest
	case "HIDDEN":
		l.Hidden = rest
	case "STARTER":
		l.Start, err = strconv.Atoi(rest)
	default:
		err = fmt.Errorf("unknown word %q", word)
	}
	return err
}
