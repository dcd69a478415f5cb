package mutants

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A Tree is a copy of the sources, in which mutants are made one at a time. It stays:
// the next run only copies what has changed, and what has been built there is kept.
type Tree struct {
	root string // of the original
	dir  string
	tool string // the launcher, without mutants
}

// NewTree makes dir a copy of the sources at root. One process may use it at a time.
func NewTree(root, dir string) (*Tree, error) {
	t := &Tree{root: root, dir: dir, tool: filepath.Join(dir, "build", "launcher")}
	if err := os.MkdirAll(filepath.Dir(t.tool), 0o755); err != nil {
		return nil, err
	}
	if err := t.sync(); err != nil {
		return nil, err
	}
	return t, t.build()
}

// sync makes the copy like the original: files that differ are written, those that are
// too many removed. What is built stays.
func (t *Tree) sync() error {
	kept := map[string]bool{}
	err := eachFile(t.root, func(name string) error {
		kept[name] = true
		return t.restore(name)
	})
	if err != nil {
		return err
	}
	return eachFile(t.dir, func(name string) error {
		if kept[name] {
			return nil
		}
		return os.Remove(filepath.Join(t.dir, name))
	})
}

// restore makes one file of the copy like the original.
func (t *Tree) restore(name string) error {
	want, err := os.ReadFile(filepath.Join(t.root, name))
	if err != nil {
		return err
	}
	have, err := os.ReadFile(filepath.Join(t.dir, name))
	if err == nil && bytes.Equal(have, want) {
		return nil
	}
	return t.write(name, want)
}

func (t *Tree) write(name string, text []byte) error {
	path := filepath.Join(t.dir, name)
	info, err := os.Stat(filepath.Join(t.root, name))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, info.Mode().Perm())
}

// eachFile calls f with the path of each source file below root.
func eachFile(root string, f func(name string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // somebody edits the tree
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "build" || name == ".git"):
			return fs.SkipDir
		case !d.Type().IsRegular() || name == ".git":
			return nil
		}
		return f(name)
	})
}
