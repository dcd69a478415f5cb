// Command release makes build/release: the kernel, and what starts it on machines that have QEMU and
// nothing else, or nothing at all.
//
//	sonde.elf          the kernel
//	sonde.iso          the medium for PCs, by CD or USB stick
//	netboot/           the files for a TFTP server
//	sonde-OS-ARCH      the launcher for each system: boots the sonde.elf beside it in QEMU
//	NOTICES, LICENSE   licences
//	README.txt         how to start
//	SHA256SUMS         checksums of all the others, as sha256sum -c reads them
package main

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"sonde/internal/image"
	"sonde/internal/stick"
)

const (
	kernel    = "sonde.elf"
	checksums = "SHA256SUMS"
)

// systems are those for which there is a launcher.
var systems = []struct{ goos, goarch, suffix string }{
	{"linux", "amd64", ""},
	{"linux", "arm64", ""},
	{"darwin", "amd64", ""},
	{"darwin", "arm64", ""},
	{"windows", "amd64", ".exe"},
	{"windows", "arm64", ".exe"},
}

//go:embed README.txt
var readme []byte

func main() {
	dir, err := release()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: sonde-OS-ARCH there boots sonde.elf; it needs QEMU alone\n", dir)
}

// release fills build/release anew, and returns its path.
func release() (string, error) {
	root, err := image.Root()
	if err != nil {
		return "", err
	}
	built, err := image.Build(image.BuildOptions{Say: os.Stderr})
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "build", "release")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, from := range map[string]string{kernel: built, "NOTICES": filepath.Join(root, "NOTICES"), "LICENSE": filepath.Join(root, "LICENSE")} {
		if err := stick.Copy(filepath.Join(dir, name), from); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README.txt"), readme, 0o644); err != nil {
		return "", err
	}
	if err := media(dir); err != nil {
		return "", err
	}
	if err := launchers(root, dir); err != nil {
		return "", err
	}
	return dir, sums(dir)
}

// media makes what PCs boot.
func media(dir string) error {
	o := stick.Options{Kernel: filepath.Join(dir, kernel)}
	if err := stick.ISO(filepath.Join(dir, "sonde.iso"), o); err != nil {
		return err
	}
	net := filepath.Join(dir, "netboot")
	if err := os.Mkdir(net, 0o755); err != nil {
		return err
	}
	_, _, err := stick.Netboot(net, o)
	return err
}

// launchers builds package qemu for all systems; the linker tells it the image's name.
func launchers(root, dir string) error {
	for _, s := range systems {
		out := filepath.Join(dir, "sonde-"+s.goos+"-"+s.goarch+s.suffix)
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.finished="+kernel, "-o", out, "./qemu")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+s.goos, "GOARCH="+s.goarch, "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", filepath.Base(out), err, said)
		}
	}
	return nil
}

// sums writes the checksums of all files in dir.
func sums(dir string) error {
	out, err := os.Create(filepath.Join(dir, checksums))
	if err != nil {
		return err
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == checksums {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			_, err = fmt.Fprintf(out, "%x  %s\n", sha256.Sum256(b), name)
		}
		return err
	})
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
