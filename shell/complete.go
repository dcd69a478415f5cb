package shell

import (
	"slices"
	"strings"

	"sonde/kernel/vfs"
)

// complete returns what the word before the cursor could become: a command or program, an argument of
// a command with its own completion, a symbol after "=", a function of a program after its file and
// ":", or a path.
func (s *Shell) complete(text string, pos int) (start int, candidates []string) {
	words, word, first := lastCommand(text[:pos])
	start = pos - len(word)
	if first && !strings.Contains(word, "/") {
		return start, withPrefix(s.runnable(), word)
	}
	value := word[strings.LastIndexByte(word, '=')+1:]
	if file, name, ok := strings.Cut(value, ":"); ok && strings.Contains(file, "/") {
		if path, err := s.findProgram(file); err == nil {
			return pos - len(name), withPrefix(programFunctions(path, "*", true), name)
		}
	}
	if value != word && !strings.HasPrefix(value, "/") {
		if s.Symbols == nil {
			return start, nil
		}
		return pos - len(value), withPrefix(s.Symbols(value), value)
	}
	if len(words) > 0 && value == word {
		if cmd := s.commands[words[0]]; cmd != nil && cmd.Complete != nil {
			if list := withPrefix(cmd.Complete(s, append(words[1:], word)), word); len(list) > 0 {
				return start, list
			}
		}
	}
	dir, base := value[:strings.LastIndexByte(value, '/')+1], value[strings.LastIndexByte(value, '/')+1:]
	list := paths(s.path(dir), s.dir, base)
	if len(list) > 0 || s.Symbols == nil || dir != "" || base == "" {
		return pos - len(base), list
	}
	return start, withPrefix(s.Symbols(word), word)
}

// runnable lists what can be the first word of a command.
func (s *Shell) runnable() []string {
	names := append(s.commandNames(), s.programNames()...)
	for name := range s.funcs {
		if s.commands[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// lastCommand returns the words of the command at the end of text. The last one, which may be
// empty, is separate; first says that it is the command's name. Quotes are ignored: nothing that
// can be completed needs them.
func lastCommand(text string) (words []string, word string, first bool) {
	if i := strings.LastIndexAny(text, ";|&\n`"); i >= 0 {
		text = text[i+1:]
	}
	if i := strings.LastIndex(text, "$("); i >= 0 {
		text = text[i+2:]
	}
	target := false // of a redirection
	if i := strings.LastIndexAny(text, "<>"); i >= 0 {
		text, target = text[i+1:], true
	}
	i := strings.LastIndexAny(text, " \t") + 1
	words, word = strings.Fields(text[:i]), text[i:]
	for len(words) > 0 && opens[words[0]] {
		words = words[1:]
	}
	return words, word, len(words) == 0 && !target
}

// opens are the words after which a command begins.
var opens = map[string]bool{"do": true, "then": true, "else": true, "elif": true, "if": true, "while": true, "until": true, "{": true, "!": true, "time": true}

// paths lists the names in dir, or in the directory here, that begin with base; directories end in
// "/".
func paths(dir, here, base string) []string {
	if dir == "" {
		dir = here
	}
	entries, err := vfs.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		list = append(list, name)
	}
	return withPrefix(list, base)
}

// withPrefix returns the words of list that begin with prefix, sorted.
func withPrefix(list []string, prefix string) []string {
	var found []string
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			found = append(found, s)
		}
	}
	slices.Sort(found)
	return found
}
