package sysbpf

import (
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/program"
)

// Commands for files in /sys/fs/bpf: pathname 0, bpf_fd 8, file_flags 12.

func objPin(c *call) (uint64, error) {
	if c.u32(12) != 0 {
		return 0, refusal.New(syscall.EINVAL, "flags %#x of a file are not known", c.u32(12))
	}
	path, err := c.Path(c.u64(0))
	if err != nil {
		return 0, err
	}
	f, err := c.Hold(c.fd(8))
	if err != nil {
		return 0, err
	}
	defer vfs.Close(f)
	o := objectOf(f)
	if o == nil {
		return 0, refusal.New(syscall.EINVAL, "descriptor %d is not a map, program or link", c.fd(8))
	}
	return done(program.Pin(path, o))
}

func objGet(c *call) (uint64, error) {
	flags := c.u32(12)
	if c.u32(8) != 0 || flags&^(readOnly|writeOnly) != 0 || flags == readOnly|writeOnly {
		return 0, refusal.New(syscall.EINVAL, "flags %#x of a descriptor are not known", flags)
	}
	path, err := c.Path(c.u64(0))
	if err != nil {
		return 0, err
	}
	o, err := program.Pinned(path)
	if err == nil {
		err = program.Hold(o)
	}
	if err != nil {
		return 0, err
	}
	switch o := o.(type) {
	case *program.Map:
		return c.installMap(o, fileFlag(flags))
	case *program.Prog:
		return c.installProg(o)
	case *program.Link:
		return c.installLink(foundLink, o, nil)
	}
	program.Release(o)
	return 0, syscall.EINVAL
}

// objectOf returns the object of a descriptor's file; nil: it is none that can be pinned.
func objectOf(f *vfs.File) program.Object {
	switch h := f.Handle().(type) {
	case *progFile:
		return h.object
	case *linkFile:
		return h.object
	}
	if m := mapOf(f); m != nil {
		return m.m
	}
	return nil
}
