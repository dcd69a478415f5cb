// Command notices writes the file NOTICES: the licences of everything that is linked into
// the image or otherwise on the stick. With -check it only compares.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sonde/internal/image"
)

// errStale says that NOTICES is not what would be written now.
var errStale = errors.New("NOTICES is out of date: go run ./internal/notices writes it")

const head = `sonde itself is under the licence in the file LICENSE. This file has the licences of
what is linked into the kernel and into the programs of its image, and names what
else a stick holds. "make notices" checks that it is complete.

Go's runtime and standard library, which are in both, are under the licence and the
patent grant that golang.org/x/sys has below: the texts are the same.
`

// A stick also holds programs that are copied as they are, side by side with the image.
const onStick = `
==== On a stick made by "make stick" only: GNU GRUB

The boot loader on the stick is GNU GRUB, copied from the packages grub-common, grub-pc-bin and
grub-efi-amd64-bin of the distribution on which the stick was made. It is under the GNU General
Public License, version 3 or later; its text is in /usr/share/common-licenses/GPL-3 there, and the
source is the distribution's source package grub2. Whoever passes a stick on passes on GRUB, too, and
must offer its source.
`

func main() {
	check := flag.Bool("check", false, "only check that NOTICES is up to date")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// run writes NOTICES in the root of the module, or compares it.
//
// Errors: errStale; those of the go command and of reading licences.
func run(check bool) error {
	root, err := image.Root()
	if err != nil {
		return err
	}
	want, err := notices()
	if err != nil {
		return err
	}
	path := filepath.Join(root, "NOTICES")
	if !check {
		return os.WriteFile(path, want, 0o644)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		return errors.Join(errStale, err)
	}
	return nil
}

// module is what the go command tells of one.
type module struct{ path, version, dir string }

func notices() ([]byte, error) {
	modules, err := linked()
	if err != nil {
		return nil, err
	}
	// The font of the screen is made of this module's, which no image links.
	font, err := list(exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Version}} {{.Dir}}", "golang.org/x/image"))
	if err != nil {
		return nil, err
	}
	modules = append(modules, font...)
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	modules = slices.Compact(modules)
	var b bytes.Buffer
	b.WriteString(head)
	for _, m := range modules {
		if err := m.write(&b); err != nil {
			return nil, err
		}
	}
	b.WriteString(onStick)
	return b.Bytes(), nil
}

// linked returns the modules of the packages in the kernel, in the programs of its image, and in the launcher.
func linked() ([]module, error) {
	const form = "{{with .Module}}{{.Path}} {{.Version}} {{.Dir}}{{end}}"
	kernel, err := image.Go("list", "-deps", "-f", form, "sonde/boot")
	if err != nil {
		return nil, err
	}
	// The launcher is in a release.
	programs := exec.Command("go", "list", "-deps", "-f", form, "sonde/user", "sonde/qemu")
	programs.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	a, err := list(kernel)
	if err != nil {
		return nil, err
	}
	b, err := list(programs)
	return append(a, b...), err
}

// list reads the modules that a command prints, without our own.
func list(cmd *exec.Cmd) (modules []module, err error) {
	out, err := image.Output(cmd)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 3 {
			modules = append(modules, module{f[0], f[1], f[2]})
		}
	}
	return modules, nil
}

// write adds the texts that come with a module. A module without a licence is an error.
func (m module) write(b *bytes.Buffer) error {
	files, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	found := false
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !strings.Contains(name, "LICENSE") && !strings.Contains(name, "COPYING") && !strings.Contains(name, "NOTICE") && name != "PATENTS" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.dir, f.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(b, "\n==== %s %s (%s)\n\n%s\n", m.path, m.version, f.Name(), bytes.TrimSpace(text))
	}
	if !found {
		return fmt.Errorf("%s %s has no licence", m.path, m.version)
	}
	return nil
}
