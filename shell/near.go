package shell

import (
	"slices"
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
)

// notFound says that a command does not exist.
func (s *Shell) notFound(name string) string {
	names := slices.DeleteFunc(s.commandNames(), func(n string) bool { return len(n) < 2 })
	if programs, err := vfs.ReadDir("/bin"); err == nil {
		for _, p := range programs {
			names = append(names, p.Name())
		}
	}
	return "command not found" + meant(name, names)
}

// meant asks whether one of the names was meant; "" if none is near.
func meant(typed string, names []string) string {
	near := kallsyms.Nearest(typed, names)
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(near, " or ") + "?)"
}
