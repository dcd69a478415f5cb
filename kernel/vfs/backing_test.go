package vfs

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
)

func TestMappingsShareTheFilesPages(t *testing.T) {
	a := newAt(t)
	before := frame.Kernel.Stats()
	a.must(a.ProvideAt(a.cwd, "lib", 0755, []byte(strings.Repeat("0123456789abcdef", 300)))) // 4800 bytes
	f, err := a.OpenAt(a.cwd, "lib", O_RDWR, 0)
	a.must(err)
	b, err := f.Backing()
	a.must(err)
	other, err := a.OpenAt(a.cwd, "lib", O_RDONLY, 0)
	a.must(err)
	if again, err := other.Backing(); again != b || err != nil {
		t.Errorf("another descriptor maps another backing: %v", err)
	}
	if id := b.Ident(); id.Name != "/a/lib" || id.Inode != f.Info().Ino || id.Dev != f.Info().Dev {
		t.Errorf("%+v", id)
	}
	b.Hold()
	p, err := b.Frame(1)
	a.must(err)
	if got := string(frame.Kernel.Bytes(p)[:704]); got != strings.Repeat("0123456789abcdef", 44) {
		t.Errorf("page 1 has %.20q…", got)
	}
	if frame.Kernel.Bytes(p)[704] != 0 {
		t.Error("behind the end there is something")
	}
	f.WriteAt([]byte("written"), 4096)
	if got := string(frame.Kernel.Bytes(p)[:7]); got != "written" {
		t.Errorf("who has it mapped sees %q", got)
	}
	copy(frame.Kernel.Bytes(p), "through the map")
	got := make([]byte, 15)
	f.ReadAt(got, 4096)
	if string(got) != "through the map" {
		t.Errorf("who reads sees %q", got)
	}
	if _, err := b.Frame(2); !errors.Is(err, backing.ErrBus) {
		t.Errorf("beyond the end: %v", err)
	}
	a.must(a.UnlinkAt(a.cwd, "lib"))
	if id := b.Ident(); id.Name != "/a/lib (deleted)" {
		t.Error(id.Name)
	}
	f.Close()
	other.Close()
	if q, err := b.Frame(1); q != p || err != nil {
		t.Errorf("mapped, but without a name, its page is another: %v", err)
	} else {
		frame.Kernel.Put(q)
	}
	frame.Kernel.Put(p)
	b.Drop()
	if now := frame.Kernel.Stats(); now.Used != before.Used {
		t.Errorf("%d frames are left", now.Used-before.Used)
	}
}

func TestOnlyFilesCanBeMapped(t *testing.T) {
	a := newAt(t)
	d, err := a.OpenAt(a.cwd, "dir", O_DIRECTORY, 0)
	a.must(err)
	if _, err := d.Backing(); !errors.Is(err, syscall.ENODEV) {
		t.Errorf("a directory: %v", err)
	}
	n := NewAnonymous(0)
	f := NewFile("x", n, regularHandle{regular: a.newRegular(0)}, 0)
	if _, err := f.Backing(); !errors.Is(err, syscall.ENODEV) {
		t.Errorf("something else: %v", err)
	}
}
