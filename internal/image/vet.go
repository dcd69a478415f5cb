package image

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// vetFlags turn off what is wrong to ask of a kernel: its memory is at addresses that are
// numbers, and code that the processor enters has no frame pointer to save.
var vetFlags = []string{"-unsafeptr=false", "-framepointer=false"}

// Vet runs go vet on the kernel as it is built for the machine, its tests in the kernel
// and the packages of With included. "go vet ./..." sees what is built for the host.
//
// Errors: ErrBuild when vet has found something, which is in w then; ErrModule as in Build.
func Vet(w io.Writer, opts BuildOptions) error {
	root, dir, unlock, err := folders()
	if err != nil {
		return err
	}
	defer unlock()
	b, err := opts.prepare(root, dir)
	if err != nil {
		return err
	}
	opts.Test = true
	packages, overlay, err := b.vetted(root, dir, opts.tags())
	if err != nil {
		return fmt.Errorf("image: vet: %w", err)
	}
	args := append([]string{"vet", "-overlay=" + overlay, "-tags", opts.tags(), "-trimpath", "-buildvcs=false"}, vetFlags...)
	cmd := b.command(root, append(args, packages...)...)
	out, err := cmd.CombinedOutput()
	findings := onlyInOverlay.ReplaceAll(out, nil)
	if err == nil || len(findings) == 0 && len(out) > 0 {
		return nil
	}
	w.Write(findings)
	return fmt.Errorf("image: go vet: %w: %w", ErrBuild, err)
}

// onlyInOverlay is what the go command says of a package whose folder only the overlay has: it
// cannot run vet there. Nothing of that package is ours.
var onlyInOverlay = regexp.MustCompile(`(?m)^runtime/goos: .*: chdir .*/runtime/goos: no such file or directory\n`)

// vetted returns the packages of the kernel that are not libraries, and an overlay in which
// they have no tests: those are for the host.
func (b builder) vetted(root, dir, tags string) (packages []string, overlay string, err error) {
	const form = "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}\t{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}\t{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}\t{{end}}{{end}}{{end}}"
	out, err := Output(b.command(root, "list", "-deps", "-overlay="+b.overlay(), "-tags", tags, "-f", form, "sonde/boot"))
	if err != nil {
		return nil, "", err
	}
	hidden := map[string]string{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		packages = append(packages, f[0])
		for _, test := range f[1:] {
			hidden[test] = ""
		}
	}
	overlay = filepath.Join(dir, "vet.json")
	return packages, overlay, mergeOverlay(b.overlay(), hidden, overlay)
}
