package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// settle writes the hidden tests into a folder as they are for a class: of the words among which the
// class chooses, only the chosen one is left. An instructor can read them and change them, and grade
// with -hidden FOLDER.
//
// Errors: a file is there; what reading and writing says.
func settle(o options) error {
	paths, err := filepath.Glob(filepath.Join(o.root, "course", "hidden", "*.story"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.settle, 0o755); err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(o.settle, filepath.Base(path))
		if _, err := os.Lstat(to); err == nil {
			return fmt.Errorf("%s is there already: give a new folder", to)
		}
		if err := os.WriteFile(to, []byte(settled(string(text), o.class)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// settled leaves of each PICK the word that a class has.
func settled(text, class string) string {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		lines := strings.Split(block, "\n")
		for j, line := range lines {
			if f := strings.Fields(line); len(f) > 2 && f[0] == "PICK" {
				lines[j] = "PICK " + f[1] + " " + picked(f[2:], class, block)
			}
		}
		blocks[i] = strings.Join(lines, "\n")
	}
	return strings.Join(blocks, "\n\n")
}
