package image

import (
	"path/filepath"
	"strings"

	"sonde/boot/overlay"
)

// toolchain is a go command with what it needs to build the kernel.
type toolchain struct {
	goCmd   string
	version string // as in "go1.26.5"
	overlay string // path of the JSON file
	env     []string
}

// chooseToolchain returns the toolchain in the PATH.
func chooseToolchain(root, dir string) (toolchain, error) {
	t := toolchain{
		goCmd: "go",
		env:   []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOAMD64=v1", "GOFLAGS="},
	}
	said, err := t.ask(root, nil, "env", "GOROOT", "GOVERSION", "GOMODCACHE")
	if err != nil {
		return t, err
	}
	var facts [3]string
	copy(facts[:], strings.Split(said, "\n"))
	t.version = facts[1]
	goroot, err := t.moveOutOf(facts[2], facts[0], dir)
	if err != nil {
		return t, err
	}
	t.overlay, err = overlay.Generate(goroot, filepath.Join(dir, "_overlay"))
	return t, err
}

// moveOutOf makes t use a GOROOT that an overlay may change, and returns it.
func (t *toolchain) moveOutOf(cache, goroot, dir string) (string, error) {
	view, err := outsideCache(goroot, cache, dir)
	if err != nil || view == goroot {
		return goroot, err
	}
	t.goCmd = filepath.Join(view, "bin", "go")
	// The go command would set GOROOT anew for a toolchain that it chooses by itself.
	t.env = append(t.env, "GOROOT="+view, "GOTOOLCHAIN=local")
	return view, nil
}
