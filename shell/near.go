package shell

import (
	"slices"
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
)

// notFound is what is said of a command that there is none of.
func (s *Shell) notFound(name string) string {
	names := s.commandNames()
	if programs, err := vfs.ReadDir("/bin"); err == nil {
		for _, p := range programs {
			names = append(names, p.Name())
		}
	}
	return name + ": command not found" + meant(name, names) + "\n"
}

// meant asks whether one of the names was meant; "" if none is near.
func meant(typed string, names []string) string {
	var near []string
	for _, name := range names {
		if kallsyms.Similar(typed, name) && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?)"
}
