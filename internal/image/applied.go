package image

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Lint runs a tool on the packages of the kernel, but not on its tests, much of which is unusual on
// purpose. It is for tools that load Go packages but know no overlay: they get a GOROOT in which the
// overlay's changes have been made, and the build tags in GOFLAGS.
//
// Errors: those of finding the toolchain and of making the overlay; that of the tool, whose output
// is in w.
func Lint(w io.Writer, tool string, args ...string) error {
	root, dir, unlock, err := folders()
	if err != nil {
		return err
	}
	defer unlock()
	var opts BuildOptions
	b, err := opts.prepare(root, dir)
	if err != nil {
		return err
	}
	packages, _, err := b.vetted(root, dir, opts.tags())
	if err != nil {
		return fmt.Errorf("image: lint: %w", err)
	}
	goroot, err := b.tool.applied(root, filepath.Join(dir, "_applied"))
	if err != nil {
		return fmt.Errorf("image: lint: %w", err)
	}
	cmd := exec.Command(tool, append(args, packages...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, w, w
	cmd.Env = slices.Concat(os.Environ(), b.tool.env, []string{"GOWORK=off", "GOROOT=" + goroot, "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false -tags=" + opts.tags()})
	return cmd.Run()
}

// applied makes a GOROOT at view in which the overlay's changes have been made, and returns it.
func (t toolchain) applied(root, view string) (string, error) {
	said, err := t.ask(root, nil, "env", "GOROOT")
	if err != nil {
		return "", err
	}
	goroot := strings.TrimSpace(said)
	replaced, err := readOverlay(t.overlay)
	if err != nil {
		return "", err
	}
	changed := map[string]string{}
	for name, by := range replaced {
		if below, ok := strings.CutPrefix(name, goroot+"/"); ok {
			changed[below] = by
		}
	}
	if err := os.RemoveAll(view); err != nil {
		return "", err
	}
	return view, apply(goroot, view, changed)
}

// apply makes at view what is at from, by links, with the files in changed in place of those at
// their paths, which are relative to from. Only folders that contain such files are made.
func apply(from, view string, changed map[string]string) error {
	if err := os.MkdirAll(view, 0o755); err != nil {
		return err
	}
	below := map[string]map[string]string{} // of each folder to make, by its name
	for path, by := range changed {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			if err := os.Symlink(by, filepath.Join(view, name)); err != nil {
				return err
			}
			continue
		}
		if below[name] == nil {
			below[name] = map[string]string{}
		}
		below[name][rest] = by
	}
	for name, files := range below {
		if err := apply(filepath.Join(from, name), filepath.Join(view, name), files); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(from)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, e := range entries {
		if _, done := changed[e.Name()]; done || below[e.Name()] != nil {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(view, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
