package image

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sonde/boot/overlay"
)

// toolchain is a go command with what it needs to build the kernel.
type toolchain struct {
	goCmd   string
	overlay string // path of the JSON file
	env     []string
}

// chooseToolchain returns the stock toolchain in the PATH, or the TamaGo
// toolchain whose go command the environment variable TAMAGO names. The latter
// needs no shim under its runtime.
func chooseToolchain(root, dir string) (toolchain, error) {
	t := toolchain{
		goCmd: "go",
		env:   []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOAMD64=v1", "GOFLAGS="},
	}
	generate, overlayDir := overlay.Generate, filepath.Join(dir, "_overlay")
	if cmd := os.Getenv("TAMAGO"); cmd != "" {
		t.goCmd = cmd
		t.env[0] = "GOOS=tamago"
		t.env = append(t.env, "GOOSPKG=github.com/usbarmory/tamago")
		generate, overlayDir = overlay.GenerateTamago, filepath.Join(dir, "_overlay-tamago")
	}
	goroot, err := t.goroot(root)
	if err != nil {
		return t, err
	}
	t.overlay, err = generate(goroot, overlayDir)
	return t, err
}

func (t toolchain) goroot(root string) (string, error) {
	cmd := exec.Command(t.goCmd, "env", "GOROOT")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s env GOROOT: %w", t.goCmd, err)
	}
	return string(bytes.TrimSpace(out)), nil
}
