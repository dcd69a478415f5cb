package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// finished is the name of the image beside this command, in a release (package internal/release), where
// there is neither Go nor the source; the linker sets it. "" everywhere else.
var finished string

// takeFinished makes o boot the image of the release.
//
// Errors: an option asks for another image, which would have to be built.
func (o *options) takeFinished() error {
	if finished == "" || o.Image != "" {
		return nil
	}
	for option, given := range map[string]bool{
		"-test": o.test, "-nolinux": o.noLinux, "-noprobe": o.noProbe, "-with": len(o.with) > 0,
		"-vet": o.vet, "-gdb": o.gdb, "-build": o.build && !o.stick,
	} {
		if given {
			return fmt.Errorf("%s needs Go and the source: a release has one finished image", option)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Image = filepath.Join(filepath.Dir(self), finished)
	return nil
}

// name is what a user types to start this command.
func name() string {
	if finished == "" {
		return "go run ./qemu"
	}
	return filepath.Base(os.Args[0])
}
