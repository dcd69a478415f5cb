package image

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sonde/kernel/vfs/cpio"
)

// userland returns the archive of our own programs, which every image carries: the
// one file built from user/, its names, and what programs expect of a system. It is
// built by the same go command, for Linux; dir is where the file goes.
//
// Errors: ErrBuild with the compiler's output.
func userland(root, dir string) ([]byte, error) {
	box := filepath.Join(dir, "box")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-w", smallShell, "-o", box, "./user")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOAMD64=v1", "GOFLAGS=", "GOWORK=off")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("image: %s: %w: %w\n%s", strings.Join(cmd.Args, " "), ErrBuild, err, msg)
	}
	program, err := os.ReadFile(box)
	if err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	names, err := exec.Command(box).Output()
	if err != nil {
		return nil, fmt.Errorf("image: %s: %w: %w", box, ErrBuild, err)
	}
	return archive(program, strings.Fields(string(names)))
}

// archive packs the program, and makes the names lead to it.
func archive(program []byte, names []string) ([]byte, error) {
	var b bytes.Buffer
	w := cpio.NewWriter(&b)
	var errs []error
	add := func(name string, mode uint32, data string) {
		errs = append(errs, w.Add(cpio.Entry{Name: name, Mode: mode, Data: []byte(data)}))
	}
	add("bin", cpio.Dir|0o755, "")
	add("bin/box", cpio.Regular|0o755, string(program))
	for _, name := range names {
		add("bin/"+name, cpio.Symlink|0o777, "box")
	}
	add("etc", cpio.Dir|0o755, "")
	add("etc/passwd", cpio.Regular|0o644, "root:x:0:0:root:/root:/bin/sh\n")
	add("etc/group", cpio.Regular|0o644, "root:x:0:\n")
	add("root", cpio.Dir|0o700, "")
	errs = append(errs, w.Close())
	return b.Bytes(), errors.Join(errs...)
}
