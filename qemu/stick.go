package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sonde/internal/stick"
	"sonde/qemu/machine"
)

// makeStick makes what a PC boots from, beside the image, and returns the exit status.
func makeStick(o options) int {
	made := stick.Options{Kernel: o.Image, Initrd: o.Initrd}
	if o.Append != "" || o.scripted {
		line := o.Append
		if o.scripted {
			line += " -- " + o.Script
		}
		made.CommandLine = &line
	}
	if o.From == machine.Net {
		return makeNetboot(filepath.Join(filepath.Dir(o.Image), "netboot"), made)
	}
	out := filepath.Join(filepath.Dir(o.Image), "sonde.iso")
	if err := stick.ISO(out, made); err != nil {
		return fail(err, machine.StatusQEMU)
	}
	info, err := os.Stat(out)
	if err != nil {
		return fail(err, machine.StatusQEMU)
	}
	fmt.Printf("%s: %d bytes; write it to a whole USB stick, or to a CD\n", out, info.Size())
	return 0
}

// makeNetboot fills dir.
func makeNetboot(dir string, made stick.Options) int {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fail(err, machine.StatusQEMU)
	}
	bios, uefi, err := stick.Netboot(dir, made)
	if err != nil {
		return fail(err, machine.StatusQEMU)
	}
	fmt.Printf("%s: offer it by TFTP; the boot file is %s for a BIOS, %s for UEFI\n", dir, bios, uefi)
	return 0
}
