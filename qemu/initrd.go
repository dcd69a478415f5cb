package main

import (
	"fmt"
	"io"
	"os"

	"sonde/qemu/initrd"
)

// makeInitrd writes the archive of -initrd and, after it, one of the files of -add to a temporary
// file. The caller removes it.
//
// Errors: initrd.ErrFile, and those of reading and writing.
func (o *options) makeInitrd() (remove func(), err error) {
	if len(o.add) == 0 {
		return func() {}, nil
	}
	archive := initrd.Archive{Deps: o.deps, Say: prefixed{os.Stderr}}
	for _, spec := range o.add {
		if err := archive.Add(spec); err != nil {
			return nil, fmt.Errorf("-add: %w", err)
		}
	}
	o.programs = archive.Programs
	out, err := os.CreateTemp("", "sonde-initrd")
	if err != nil {
		return nil, err
	}
	remove = func() { os.Remove(out.Name()) }
	if err = writeInitrd(out, o.Initrd, &archive); err != nil {
		remove()
		return nil, err
	}
	o.Initrd = out.Name()
	return remove, nil
}

// writeInitrd writes the given archive, if there is one, and then the other.
func writeInitrd(out *os.File, given string, archive *initrd.Archive) error {
	defer out.Close()
	if given != "" {
		in, err := os.Open(given)
		if err != nil {
			return err
		}
		defer in.Close()
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
	}
	_, err := archive.WriteTo(out)
	return err
}
