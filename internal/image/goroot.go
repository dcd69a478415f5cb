package image

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"strings"
)

// The Go versions, first and last, with which all tests were run.
const (
	firstTested = "go1.26.5"
	lastTested  = "go1.27.1"
)

// untested says, for people, that no test has been run with this version of Go; it is empty if
// they have.
func untested(v string) string {
	if version.Compare(v, firstTested) >= 0 && version.Compare(v, lastTested) <= 0 {
		return ""
	}
	return fmt.Sprintf("%s has not been tested: the tests were run with %s to %s (GOTOOLCHAIN=%s selects the last of these)",
		v, firstTested, lastTested, lastTested)
}

// outsideCache returns a GOROOT that an overlay may change. The go command refuses to replace
// files in the module cache, which is where it puts the toolchains that it downloads by itself;
// for such a toolchain the result is a new folder in dir, with links to what is in goroot.
func outsideCache(goroot, cache, dir string) (string, error) {
	inCache, err := filepath.Rel(cache, goroot)
	if err != nil || strings.HasPrefix(inCache, "..") {
		return goroot, nil
	}
	view := filepath.Join(dir, "_goroot", filepath.Base(goroot))
	if err := os.RemoveAll(view); err != nil {
		return "", err
	}
	return view, apply(goroot, view, nil)
}
