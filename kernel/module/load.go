package module

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// Insmod loads an instance of a module with parameters of the form "name=value". The
// parameter name is the instance's own name; without it, that is the module's.
//
// Context: goroutine; calls New and Init.
// Errors: ENOENT (with similar names), EEXIST something with this name is loaded, or the
// module without New, EINVAL, EFAULT if New or Init panics, and those of Init (wrapped with
// the module's name).
func Insmod(name string, params ...string) error { return InsmodFrom("/", name, params...) }

// InsmodFrom is Insmod for a caller in a folder, from which relative paths in the parameters are seen.
//
// Context, Errors: as Insmod.
func InsmodFrom(dir, name string, params ...string) error {
	as, rest, err := nameOf(name, params)
	if err == nil {
		var s *Status
		if s, err = begin(name, as); err == nil {
			if err = s.load(dir, rest); err == nil {
				return nil
			}
			s.forget()
		}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// nameOf takes the instance's name from the parameters; rest are the module's own.
//
// Errors: EINVAL it is none.
func nameOf(module string, params []string) (name string, rest []string, err error) {
	name = module
	for _, p := range params {
		value, ok := strings.CutPrefix(p, "name=")
		switch {
		case !ok:
			rest = append(rest, p)
		case !isName(value):
			return "", nil, refusal.New(syscall.EINVAL, "parameter %s: a name has 1 to %d letters, digits, _, - or .", p, maxName)
		default:
			name = value
		}
	}
	return name, rest, nil
}

// maxName is how long an instance's name may be. Linux's is MODULE_NAME_LEN, 56 with the
// final zero.
const maxName = 55

// isName reports whether name can be an instance's: it becomes a word in lists and the name
// of files.
func isName(name string) bool {
	const others = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	return name != "" && len(name) <= maxName && name[0] != '.' && strings.Trim(name, others) == ""
}

// Rmmod unloads an instance. When it returns, nothing of the instance is left.
//
// Context: goroutine; calls Exit.
// Errors: ENOENT it is not loaded; EBUSY it cannot be unloaded, or is being loaded or
// unloaded (wrapped with the instance's name).
func Rmmod(name string) error {
	s, err := leave(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err = guard("exit", func() error { return as(s.Name, func() error { s.Exit(); return nil }) })
	sweep(s.Name)
	s.Params.reset()
	s.forget()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// begin marks an instance of a module as loading.
func begin(module, name string) (*Status, error) {
	table.mu.Lock()
	defer table.mu.Unlock()
	m, err := known(module)
	if err != nil {
		return nil, err
	}
	if err := free(m, name); err != nil {
		return nil, err
	}
	s := &Status{Name: name, Module: m, State: Loading, Instance: &Instance{}}
	table.loaded = append(table.loaded, s)
	return s, nil
}

// free returns an error if m cannot be loaded under a name now. The caller holds table.mu.
func free(m *Module, name string) error {
	for _, s := range table.loaded {
		switch {
		case s.Module == m && m.only != nil && s.Name == name:
			return refusal.New(syscall.EEXIST, "already loaded")
		case s.Module == m && m.only != nil:
			return refusal.New(syscall.EEXIST, "already loaded as %s, and it can be loaded only once", s.Name)
		case s.Name == name && s.Module == m:
			return refusal.New(syscall.EEXIST, "%s is already loaded; to load another, name it: name=NAME", name)
		case s.Name == name:
			return refusal.New(syscall.EEXIST, "%s is the name of a loaded %s; give another: name=NAME", name, s.Module.Name)
		}
	}
	return nil
}

// leave marks an instance as unloading.
func leave(name string) (*Status, error) {
	table.mu.Lock()
	defer table.mu.Unlock()
	s := find(name)
	switch {
	case s == nil:
		return nil, notLoaded(name)
	case s.State != Live || s.Exit == nil:
		return nil, syscall.EBUSY
	}
	s.State = Unloading
	return s, nil
}

// load makes the instance, sets its parameters and calls Init; after an error the parameters
// are as before.
func (s *Status) load(dir string, params []string) error {
	err := s.make()
	if err == nil {
		s.Params.reset()
		err = s.Params.set(dir, params)
	}
	if err == nil && s.Init != nil {
		err = guard("init", func() error { return as(s.Name, s.Init) })
	}
	if err != nil {
		sweep(s.Name)
		s.Params.reset()
		return err
	}
	table.mu.Lock()
	s.State = Live
	table.mu.Unlock()
	return nil
}

// make makes the instance.
//
// Errors: EINVAL a parameter has insmod's name; EFAULT.
func (s *Status) make() error {
	i := &Instance{}
	err := guard("new", func() error { i = s.Module.instance(s.Name); return nil })
	table.mu.Lock()
	s.Instance = i
	table.mu.Unlock()
	if err == nil && s.Params["name"] != nil {
		err = refusal.New(syscall.EINVAL, "its parameter name must be renamed: name=NAME is the instance's name")
	}
	return err
}

// forget takes an instance off the list of loaded ones.
func (s *Status) forget() {
	table.mu.Lock()
	defer table.mu.Unlock()
	if i := slices.Index(table.loaded, s); i >= 0 {
		table.loaded = slices.Delete(table.loaded, i, i+1)
	}
}

// find returns the entry of a loaded instance. The caller holds table.mu.
func find(name string) *Status {
	for _, s := range table.loaded {
		if s.Name == name {
			return s
		}
	}
	return nil
}
