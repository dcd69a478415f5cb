package mutants

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A Tree is a copy of the sources, in which mutants are made one at a time. It stays:
// the next run only copies what has changed, and what has been built there is kept.
// While it is used it does not follow changes of the original.
type Tree struct {
	root string // of the original
	dir  string
	tool string   // the launcher, without mutants but those it carries: see buildFor
	lock *os.File // held while it is used

	looked map[Test]string // what unsound has found out
}

// Take returns a copy of the sources at root that no one else uses, no other process either.
// Close gives it back.
func Take(root string) (*Tree, error) {
	for n := 1; ; n++ {
		t, err := NewTree(root, filepath.Join(root, "build", "mutants", fmt.Sprint(n)))
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return t, err
		}
	}
}

// NewTree makes dir a copy of the sources at root.
//
// Errors: EWOULDBLOCK somebody uses dir.
func NewTree(root, dir string) (*Tree, error) {
	t := &Tree{root: root, dir: dir, tool: filepath.Join(dir, "build", "launcher"), looked: map[Test]string{}}
	if err := os.MkdirAll(filepath.Dir(t.tool), 0o755); err != nil {
		return nil, err
	}
	var err error
	if t.lock, err = os.Create(filepath.Join(dir, "build", ".copy")); err != nil {
		return nil, err
	}
	err = lock(t.lock)
	if err == nil {
		err = t.sync()
	}
	if err == nil {
		err = t.build()
	}
	if err != nil {
		t.lock.Close()
		return nil, err
	}
	return t, nil
}

// Close lets others use the tree.
func (t *Tree) Close() error { return t.lock.Close() }

// sync makes the copy like the original: files that differ are written, those that are
// too many removed. What is built stays.
func (t *Tree) sync() error {
	kept := map[string]bool{}
	err := eachFile(t.root, func(name string) error {
		kept[name] = true
		return t.copy(name)
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

// copy makes one file of the copy like the original.
func (t *Tree) copy(name string) error {
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

// mutate makes m, and returns what takes it out again.
func (t *Tree) mutate(m Mutant) (undo func() error, err error) {
	file, text, err := m.mutated(t.dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(t.dir, file)
	was, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	undo = func() error { return os.WriteFile(path, was, 0o644) }
	return undo, os.WriteFile(path, []byte(text), 0o644)
}

// Sum is a sum of all sources below root that a test can depend on: all but the pages.
func Sum(root string) (string, error) {
	h := sha256.New()
	err := eachFile(root, func(name string) error {
		if strings.HasPrefix(name, "docs/") || filepath.Ext(name) == ".md" {
			return nil
		}
		b, err := os.ReadFile(filepath.Join(root, name))
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(b))
		return err
	})
	return fmt.Sprintf("%.8x", h.Sum(nil)), err
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
