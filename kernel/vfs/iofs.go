package vfs

import (
	"io"
	"io/fs"
	"strings"
	"syscall"
	"time"
)

// fileInfo is an Info with the name under which it was found, as an fs.FileInfo.
type fileInfo struct {
	name string
	Info
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.Info.Size }
func (i fileInfo) Mode() fs.FileMode  { return i.Info.Mode }
func (i fileInfo) ModTime() time.Time { return i.Info.ModTime }
func (i fileInfo) IsDir() bool        { return i.Info.Mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }

// readDir lists the directory at an absolute path.
func (f *FS) readDir(name string) ([]fs.DirEntry, error) {
	p, err := f.place(name, true)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	if _, ok := p.node.(Directory); !ok {
		return nil, pathError("readdir", name, syscall.ENOTDIR)
	}
	entries := []fs.DirEntry{}
	for _, e := range p.list() {
		if d := p.stated(e); d != nil {
			entries = append(entries, d)
		}
	}
	return entries, nil
}

func (f *FS) stat(name string, follow bool) (fs.FileInfo, error) {
	p, err := f.place(name, follow)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	name = clean(name)
	if name != "/" {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	return fileInfo{name, p.node.Stat()}, nil
}

// valid refuses names that are not valid for fs.FS.
func valid(op, name string) error {
	if !fs.ValidPath(name) {
		return pathError(op, name, fs.ErrInvalid)
	}
	return nil
}

// Open implements fs.FS.
func (f *FS) Open(name string) (fs.File, error) {
	if err := valid("open", name); err != nil {
		return nil, err
	}
	file, err := f.OpenFile(name, 0)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// ReadDir implements fs.ReadDirFS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := valid("readdir", name); err != nil {
		return nil, err
	}
	return f.readDir(name)
}

// Stat implements fs.StatFS.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := valid("stat", name); err != nil {
		return nil, err
	}
	if name == "." {
		return fileInfo{name, f.root.Stat()}, nil
	}
	return f.stat(name, true)
}

// ReadFile implements fs.ReadFileFS.
func (f *FS) ReadFile(name string) ([]byte, error) {
	if err := valid("read", name); err != nil {
		return nil, err
	}
	return f.readFile(name)
}

func (f *FS) readFile(name string) ([]byte, error) {
	file, err := f.OpenFile(name, 0)
	if err != nil {
		return nil, err
	}
	defer Close(file)
	return io.ReadAll(file)
}
