// Package stick makes media from which a PC boots the kernel, with GRUB, by BIOS or UEFI.
//
// The ISO image is a hybrid: it boots from a CD, and from a USB stick to which it is copied
// byte by byte. GRUB and the tool that assembles it come from the host's Debian packages;
// besides GRUB, only the kernel of build/ runs on the board.
//
// Rejected: our own boot loader (one for BIOS, one for UEFI, file systems, and every
// firmware's bugs); systemd-boot or Limine (no BIOS, or no Debian package).
package stick

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrTool says that GRUB's tools are missing or failed; their words are in the error.
var ErrTool = errors.New("no medium made")

// modules are what GRUB needs to find its menu on the medium, show it on screen and
// serial line, and load the kernel. With all there are the image would be twice as large.
const modules = "multiboot2 serial normal configfile terminal iso9660 all_video " + partitions

// partitions are the modules for all kinds of partition tables. The first menu on the medium, which
// GRUB's tools write, loads them all, and shows an error for each that is missing.
const partitions = "part_acorn part_amiga part_apple part_bsd part_dfly part_dvh part_gpt part_msdos " +
	"part_plan part_sun part_sunpc"

// Options say what is on a medium. Kernel must be set.
type Options struct {
	Kernel string // finished image
	Initrd string // archives for the kernel's tree of files, or ""

	// First are commands for GRUB, each with a newline, before it shows a menu or boots.
	First string

	// CommandLine, if not nil, is booted at once, with no menu; it reaches the kernel
	// byte for byte.
	CommandLine *string
}

// modules are those that the medium needs: with commands also one that changes the memory map.
func (o Options) modules() string {
	if o.First != "" {
		return modules + " mmap"
	}
	return modules
}

// ISO makes the image out.
//
// Errors: ErrTool, and those of reading and writing files.
func ISO(out string, o Options) error {
	dir, err := os.MkdirTemp("", "sonde-stick")
	if err != nil {
		return fmt.Errorf("stick: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := o.fill(dir); err != nil {
		return fmt.Errorf("stick: %w", err)
	}
	return run("grub-mkrescue", "-o", out, "--install-modules="+o.modules(),
		"--fonts=", "--locales=", "--themes=", dir)
}

// Netboot fills dir with what a TFTP server offers, and returns the name of the file in
// it that a PC with a BIOS asks for, and that for UEFI.
//
// Errors: as ISO.
func Netboot(dir string, o Options) (bios, uefi string, err error) {
	if err := o.fill(dir); err != nil {
		return "", "", fmt.Errorf("stick: %w", err)
	}
	err = run("grub-mknetdir", "--net-directory="+dir, "--subdir=/boot/grub",
		"--install-modules="+modules+" tftp", "--fonts=", "--locales=", "--themes=")
	return "boot/grub/i386-pc/core.0", "boot/grub/x86_64-efi/core.efi", err
}

// fill puts kernel, archives and menu into dir.
func (o Options) fill(dir string) error {
	files := map[string]string{"sonde.elf": o.Kernel}
	if o.Initrd != "" {
		files["initramfs"] = o.Initrd
	}
	if err := os.MkdirAll(filepath.Join(dir, "boot", "grub"), 0o755); err != nil {
		return err
	}
	for name, from := range files {
		if err := Copy(filepath.Join(dir, "boot", name), from); err != nil {
			return err
		}
	}
	if o.CommandLine != nil {
		line := *o.CommandLine
		if line == "" {
			line = " " // a module of no bytes is none
		}
		if err := os.WriteFile(filepath.Join(dir, "boot", "cmdline"), []byte(line), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "boot", "grub", "grub.cfg"), []byte(o.menu()), 0o644)
}

// Copy writes what is in a file to another one.
func Copy(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

func run(tool string, args ...string) error {
	path, err := exec.LookPath(tool)
	if err != nil {
		return fmt.Errorf("stick: %s not found: install GRUB's packages by 'make setup': %w", tool, ErrTool)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("stick: %s: %w: %w\n%s", tool, ErrTool, err, strings.TrimSpace(string(out)))
	}
	return nil
}
