package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sonde/internal/stick"
)

// From is where a machine gets the kernel from.
type From string

const (
	Direct From = ""    // QEMU loads it itself (PVH): the default
	CD     From = "cd"  // the others: its firmware starts GRUB
	USB    From = "usb" // the same image on a stick
	Net    From = "net" // PXE and TFTP
)

// ovmf returns the files of the package ovmf: the firmware for UEFI, and its variables as they are
// before its first run. Debian 12 has them in two sizes, later distributions in the larger one only.
func ovmf() (code, vars string) {
	const folder = "/usr/share/OVMF/"
	if _, err := os.Stat(folder + "OVMF_CODE.fd"); err == nil {
		return folder + "OVMF_CODE.fd", folder + "OVMF_VARS.fd"
	}
	return folder + "OVMF_CODE_4M.fd", folder + "OVMF_VARS_4M.fd"
}

// checkMedium refuses what the firmware could not boot.
func (c Config) checkMedium() error {
	switch c.From {
	case Direct:
		if c.UEFI {
			return errors.New("UEFI: add -stick, since it boots from a stick, a CD or the network only")
		}
		return nil
	case CD, USB, Net:
	default:
		return fmt.Errorf("boot from %q: it must be cd, usb or net", c.From)
	}
	switch {
	case c.Machine == "microvm":
		return errors.New("machine microvm: it has no firmware that boots from a medium")
	case c.Accel == Counted:
		return errors.New("counting instructions: GRUB's would be among them")
	}
	return nil
}

// medium is what a machine boots from, in a folder that is removed afterwards.
type medium struct {
	dir string
	net string // the file that the firmware asks the TFTP server for
}

func (m medium) remove() {
	if m.dir != "" {
		os.RemoveAll(m.dir)
	}
}

// makeMedium makes what c boots from. The caller removes it.
//
// Errors: stick.ErrTool, and those of reading and writing files.
func (c Config) makeMedium() (m medium, err error) {
	if c.From == Direct {
		return m, nil
	}
	if m.dir, err = os.MkdirTemp("", "sonde-medium"); err != nil {
		return m, err
	}
	options := stick.Options{Kernel: c.Image, Initrd: c.Initrd, First: c.GRUB}
	if line := c.commandLine(); line != "" || !c.Menu {
		options.CommandLine = &line
	}
	if c.From == Net {
		var bios, uefi string
		bios, uefi, err = stick.Netboot(m.dir, options)
		if m.net = bios; c.UEFI {
			m.net = uefi
		}
	} else {
		err = stick.ISO(m.image(), options)
	}
	if err == nil && c.UEFI {
		_, vars := ovmf()
		err = stick.Copy(m.variables(), vars) // it would remember the last machine's boot order
	}
	if err != nil {
		m.remove()
	}
	return m, err
}

func (m medium) image() string     { return filepath.Join(m.dir, "sonde.iso") }
func (m medium) variables() string { return filepath.Join(m.dir, "variables.fd") }

// loadArguments say what to boot.
func (c Config) loadArguments(m medium) []string {
	if c.From == Direct {
		args := []string{"-kernel", c.Image}
		if line := c.commandLine(); line != "" {
			args = append(args, "-append", line)
		}
		if c.Initrd != "" {
			args = append(args, "-initrd", c.Initrd)
		}
		return args
	}
	args := []string{"-vga", "std"}
	if c.UEFI {
		code, _ := ovmf()
		args = append(args, "-drive", "if=pflash,unit=0,format=raw,readonly=on,file="+code,
			"-drive", "if=pflash,unit=1,format=raw,file="+m.variables())
	}
	image := "if=none,id=medium,format=raw,readonly=on,file=" + m.image()
	switch c.From {
	case CD:
		args = append(args, "-drive", image, "-device", "ide-cd,drive=medium,bootindex=0")
	case USB:
		args = append(args, "-drive", image, "-device", "qemu-xhci", "-device", "usb-storage,drive=medium,bootindex=0")
	case Net:
		args = append(args, "-netdev", "user,id=net,tftp="+m.dir+",bootfile="+m.net, "-device", "e1000,netdev=net,bootindex=0")
	}
	return args
}
