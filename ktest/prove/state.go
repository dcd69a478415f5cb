//go:build linux

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

// A state is the folder with the outcomes of units, a file each, for one image and one
// version of this program. A run that was stopped continues with what is not there.
type state struct{ dir string }

func (s state) path(part string, unit Unit) string {
	return filepath.Join(s.dir, part, strings.ReplaceAll(unit.Name, "/", "_")+".json")
}

// load returns the unit's outcome. Not ok: the unit has not been run as it is now.
func (s state) load(part string, unit Unit) (o Outcome, ok bool, err error) {
	b, err := os.ReadFile(s.path(part, unit))
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return o, false, fmt.Errorf("prove: %s of %s: %w", unit.Name, part, err)
	}
	if o.Key != unit.Key {
		return Outcome{}, false, nil
	}
	return o, true, nil
}

// save keeps the outcome. A run that is killed meanwhile leaves no half-written file.
func (s state) save(part string, unit Unit, o Outcome) error {
	path := s.path(part, unit)
	o.Key = unit.Key
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
		return fmt.Errorf("prove: %s of %s: %w", unit.Name, part, err)
	}
	return nil
}
