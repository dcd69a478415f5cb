package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A state is the folder with the outcomes of units, a file each, for one image. A run
// that was stopped goes on with what is not there.
type state struct{ dir string }

func (s state) path(part, unit string) string {
	return filepath.Join(s.dir, part, strings.ReplaceAll(unit, "/", "_")+".json")
}

// load returns what the unit has come to. Not ok: it has not been run.
func (s state) load(part, unit string) (o Outcome, ok bool, err error) {
	b, err := os.ReadFile(s.path(part, unit))
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return o, false, fmt.Errorf("prove: %s of %s: %w", unit, part, err)
	}
	return o, true, nil
}

// save keeps the outcome. Who is killed meanwhile leaves no half of a file.
func (s state) save(part, unit string, o Outcome) error {
	path := s.path(part, unit)
	b, err := json.Marshal(o)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path+".new", b, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("prove: %s of %s: %w", unit, part, err)
	}
	return nil
}
