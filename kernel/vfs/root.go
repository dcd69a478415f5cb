package vfs

import (
	"io/fs"
	"os"
)

// Root is the tree of the running kernel. /tmp exists from the start; the packages that make /proc,
// /sys and others bind them.
var Root = newRoot()

func newRoot() *FS {
	f := New()
	f.MkdirAll("/tmp", fs.ModeSticky|0777)
	return f
}

// Open opens a file of Root; flag is as for os.OpenFile.
//
// Errors: as FS.OpenFile.
//
//go:noinline
func Open(name string, flag int) (*File, error) { return Root.OpenFile(name, flag) }

// OpenAt opens a file of Root for a program.
//
// Errors: as FS.OpenAt.
//
//go:noinline
func OpenAt(dir *Place, name string, flag int, perm fs.FileMode) (*File, error) {
	return Root.OpenAt(dir, name, flag, perm)
}

// Remove removes a file or empty directory of Root. Errors: as FS.Remove.
func Remove(name string) error { return Root.Remove(name) }

// Bind puts a node into Root. Errors: as FS.Bind.
func Bind(name string, n Node) error { return Root.Bind(name, n) }

// ReadDir lists a directory of Root by name.
//
// Errors: ENOENT, ENOTDIR (wrapped with the path).
func ReadDir(name string) ([]fs.DirEntry, error) { return Root.readDir(name) }

// Stat describes a node of Root.
//
// Errors: ENOENT, ENOTDIR (wrapped with the path).
func Stat(name string) (fs.FileInfo, error) { return Root.stat(name, true) }

// Lstat is Stat, of the link itself if the name is a symbolic one.
//
// Errors: as Stat.
func Lstat(name string) (fs.FileInfo, error) { return Root.stat(name, false) }

// ReadFile returns the contents of a file of Root. Errors: as Open and Read.
func ReadFile(name string) ([]byte, error) { return Root.readFile(name) }

// WriteFile writes p in one call to a file of Root, and makes the file if it is missing.
// Errors: as Open and Write.
func WriteFile(name string, p []byte) error {
	f, err := Open(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = Write(f, p, nil)
	if cerr := Close(f); err == nil {
		err = cerr
	}
	return err
}
