package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sonde/internal/image"
)

var goLine = regexp.MustCompile(`(?m)^go (\S+)$`)

// goVersion returns what the tree's go.mod says.
func goVersion(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	m := goLine.FindSubmatch(text)
	if m == nil {
		return "", errors.New("go.mod has no line with Go's version")
	}
	return string(m[1]), nil
}

// build builds a kernel with the module in dir, which was taken from the student's folder, and with
// the workloads. The compiler's errors name the student's files.
//
// Errors: ErrLeft, with what the compiler says.
func build(root, dir, from string) (kernel string, err error) {
	path, err := image.Build(image.BuildOptions{With: []string{dir, filepath.Join(root, "course", "work")}, Say: os.Stderr})
	if err != nil {
		return "", fmt.Errorf("%w: %s", ErrLeft, theirs(err.Error(), dir, from))
	}
	kernel = filepath.Join(filepath.Dir(dir), "kernel.elf")
	return kernel, os.Rename(path, kernel)
}

// theirs makes what the compiler says about the copy be about the student's files.
func theirs(said, dir, from string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, dir); err == nil {
			said = strings.ReplaceAll(said, rel+string(filepath.Separator), from+string(filepath.Separator))
		}
	}
	said = strings.ReplaceAll(said, dir, from)
	_, after, found := strings.Cut(said, image.ErrBuild.Error()+":\n")
	if !found {
		return said
	}
	var lines []string
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "# ") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}
