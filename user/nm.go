package main

import (
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"strings"
)

// nm prints the symbols of programs by name, or with -p in the order of the file.
func nm(args []string) error {
	sorted := true
	if len(args) > 0 && args[0] == "-p" {
		sorted, args = false, args[1:]
	}
	if len(args) == 0 {
		return fmt.Errorf("no file given")
	}
	for _, name := range args {
		if err := nmFile(name, sorted); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func nmFile(name string, sorted bool) error {
	f, err := elf.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		return err
	}
	if sorted {
		slices.SortStableFunc(syms, func(a, b elf.Symbol) int { return strings.Compare(a.Name, b.Name) })
	}
	for _, s := range syms {
		if c := letter(f, s); c != 0 {
			fmt.Fprintf(os.Stdout, "%016x %c %s\n", s.Value, c, s.Name)
		}
	}
	return nil
}

// letter is the type that nm prints; 0 for what it leaves out.
func letter(f *elf.File, s elf.Symbol) (c byte) {
	if s.Name == "" || elf.ST_TYPE(s.Info) == elf.STT_FILE || elf.ST_TYPE(s.Info) == elf.STT_SECTION {
		return 0
	}
	switch {
	case s.Section == elf.SHN_UNDEF:
		return 'U'
	case s.Section == elf.SHN_ABS || int(s.Section) >= len(f.Sections):
		return 'A'
	}
	switch sec := f.Sections[s.Section]; {
	case sec.Flags&elf.SHF_EXECINSTR != 0:
		c = 'T'
	case sec.Type == elf.SHT_NOBITS:
		c = 'B'
	case sec.Flags&elf.SHF_WRITE != 0:
		c = 'D'
	default:
		c = 'R'
	}
	if elf.ST_BIND(s.Info) == elf.STB_LOCAL {
		c |= 0x20
	}
	return c
}
