package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// build builds the grader's kernel, with the module in dir, which was taken from the student's folder, if
// the lab has one, and with the workloads. The compiler's errors name the student's files.
//
// Errors: ErrLeft, with what the compiler says, or with the limit that it has met.
func (g *grader) build(root, dir, from string) error {
	with := []string{filepath.Join(root, "course", "load")}
	if g.lab.hasModule() {
		with = append(with, dir)
	}
	limit := compilers.scaled(measure())
	path, err := image.Build(image.BuildOptions{With: with, Under: limit.words(), Say: os.Stderr})
	if err != nil {
		return fmt.Errorf("%w: %s", ErrLeft, limit.explain(theirs(err.Error(), dir, from)))
	}
	g.raw, g.kernel = path+".raw", path
	return nil
}

// hasModule reports whether a lab has code for the kernel.
func (l *Lab) hasModule() bool {
	return slices.ContainsFunc(l.Files, func(name string) bool {
		return strings.HasSuffix(name, ".go") && !slices.Contains(l.Host, name)
	})
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
	return withoutHeadings(after)
}

// withoutHeadings leaves out the lines in which the go command names a package.
func withoutHeadings(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "# ") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}
