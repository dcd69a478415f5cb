//go:build linux

package main

import (
	"bufio"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sonde/shell/coreutils"
)

// nm lists the symbols of programs, as nm(1) of POSIX does: nm [-n | -p] FILE... They are sorted by
// name; by address with -n; not at all with -p. A name without a file is looked for in PATH.
func nm(u *coreutils.IO, args []string) error {
	if len(args) == 0 {
		return coreutils.Usagef("give a file")
	}
	order := byName
	switch {
	case u.Given('p'):
		order = nil
	case u.Given('n'):
		order = byAddress
	}
	w := bufio.NewWriter(u.Out)
	for _, path := range args {
		if len(args) > 1 {
			fmt.Fprintf(w, "\n%s:\n", path)
		}
		if err := symbols(w, programFile(path), order); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", path, err), w.Flush())
		}
	}
	return w.Flush()
}

// programFile returns the path of the program called name: a file in the current directory, or else
// the one that the shell would run.
func programFile(name string) string {
	if _, err := os.Stat(name); err == nil || strings.Contains(name, "/") {
		return name
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if i, err := os.Stat(path); err == nil && i.Mode().IsRegular() {
			return path
		}
	}
	return name
}

func symbols(w *bufio.Writer, path string, order func(a, b elf.Symbol) int) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		return err
	}
	if order != nil {
		slices.SortStableFunc(syms, order)
	}
	for _, s := range syms {
		switch c := letter(f, s); c {
		case 0:
		case 'U', 'w':
			fmt.Fprintf(w, "%16s %c %s\n", "", c, s.Name)
		default:
			fmt.Fprintf(w, "%016x %c %s\n", s.Value, c, s.Name)
		}
	}
	return nil
}

func byName(a, b elf.Symbol) int { return cmp.Compare(a.Name, b.Name) }

func byAddress(a, b elf.Symbol) int {
	return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
}

// letter returns the type that nm shows for a symbol, or 0 if it does not show the symbol.
func letter(f *elf.File, s elf.Symbol) byte {
	local := elf.ST_BIND(s.Info) == elf.STB_LOCAL
	weak := elf.ST_BIND(s.Info) == elf.STB_WEAK
	switch t := elf.ST_TYPE(s.Info); {
	case t == elf.STT_FILE || t == elf.STT_SECTION || s.Name == "":
		return 0
	case s.Section == elf.SHN_UNDEF && weak:
		return 'w'
	case s.Section == elf.SHN_UNDEF:
		return 'U'
	case weak:
		return 'W'
	}
	c := place(f, s)
	if local {
		c += 'a' - 'A'
	}
	return c
}

// place returns the letter for the section of a symbol.
func place(f *elf.File, s elf.Symbol) byte {
	if int(s.Section) >= len(f.Sections) {
		return 'A'
	}
	sec := f.Sections[s.Section]
	switch {
	case sec.Flags&elf.SHF_ALLOC == 0:
		return 'N'
	case sec.Flags&elf.SHF_EXECINSTR != 0:
		return 'T'
	case sec.Type == elf.SHT_NOBITS:
		return 'B'
	case sec.Flags&elf.SHF_WRITE != 0:
		return 'D'
	}
	return 'R'
}
