//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pageFiles only write the page: what units come to does not depend on them.
var pageFiles = []string{"origin.go", "page.go", "packages.go", "picture.go"}

// sumOf is a sum of this program's files.
func sumOf(dir string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, path := range files {
		name := filepath.Base(path)
		if strings.HasSuffix(name, "_test.go") || slices.Contains(pageFiles, name) {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(b))
	}
	return h.Sum(nil), nil
}

// An origin is what a page was made from.
type origin struct {
	commit  string
	changed bool   // and files that have changed since
	image   string // the sum of the image, and of this program
	qemu    string
}

// originOf looks at the sources in root. Without git the commit is "unknown".
func originOf(root, image string) (o origin, err error) {
	o = origin{commit: "unknown", image: image}
	if b, err := exec.Command("git", "-C", root, "rev-parse", "--short=12", "HEAD").Output(); err == nil {
		o.commit = strings.TrimSpace(string(b))
		b, err = exec.Command("git", "-C", root, "status", "--porcelain", "--", ":/", ":!/docs/proof.*").Output()
		o.changed = err != nil || len(b) > 0
	}
	b, err := exec.Command("qemu-system-x86_64", "--version").Output()
	if err != nil {
		return o, fmt.Errorf("prove: %w", err)
	}
	o.qemu, _, _ = strings.Cut(string(b), "\n")
	return o, nil
}

func (o origin) String() string {
	changed := ""
	if o.changed {
		changed = ", with changes that were not committed"
	}
	return fmt.Sprintf("commit %s%s; image %s; %s", o.commit, changed, o.image, o.qemu)
}
