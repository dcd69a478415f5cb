//go:build linux

package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"sonde/shell/coreutils"
)

// files are those of the system, for coreutils.
type files struct{}

// Open and the following implement coreutils.Files.
func (files) Open(path string) (io.ReadCloser, error)      { return os.Open(path) }
func (files) Stat(path string) (fs.FileInfo, error)        { return os.Stat(path) }
func (files) Lstat(path string) (fs.FileInfo, error)       { return os.Lstat(path) }
func (files) ReadDir(path string) ([]fs.DirEntry, error)   { return os.ReadDir(path) }
func (files) Readlink(path string) (string, error)         { return os.Readlink(path) }
func (files) Mkdir(path string, perm fs.FileMode) error    { return os.Mkdir(path, perm) }
func (files) MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }
func (files) Remove(path string) error                     { return os.Remove(path) }

// kill sends a signal to a process or a group.
func kill(signal int, target string) error {
	pid, err := coreutils.Pid(target)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.Signal(signal)); err != nil {
		return fmt.Errorf("(%d) - %w", pid, err)
	}
	return nil
}
