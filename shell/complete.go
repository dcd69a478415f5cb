package shell

import (
	"slices"
	"strings"

	"sonde/kernel/vfs"
)

// complete returns what the word before the cursor could become: a command, an argument of a
// command with its own completion, a symbol after "=", or a path.
func (s *Shell) complete(text string, pos int) (start int, candidates []string) {
	words, word, first := lastCommand(text[:pos])
	start = pos - len(word)
	if first {
		return start, withPrefix(s.commandNames(), word)
	}
	if at := strings.LastIndexByte(word, '='); at >= 0 {
		if s.Symbols == nil {
			return start, nil
		}
		return start + at + 1, withPrefix(s.Symbols(word[at+1:]), word[at+1:])
	}
	if len(words) > 0 {
		if cmd := s.commands[words[0]]; cmd != nil && cmd.Complete != nil {
			return start, withPrefix(cmd.Complete(s, append(words[1:], word)), word)
		}
	}
	dir, base := word[:strings.LastIndexByte(word, '/')+1], word[strings.LastIndexByte(word, '/')+1:]
	if list := paths(dir, base); len(list) > 0 || s.Symbols == nil || dir != "" || base == "" {
		return start + len(dir), list
	}
	return start, withPrefix(s.Symbols(word), word)
}

// lastCommand returns the words of the command at the end of text. The last one, which may be
// empty, is separate; first says that it is the command's name. Quotes are ignored: nothing that
// can be completed needs them.
func lastCommand(text string) (words []string, word string, first bool) {
	if i := strings.LastIndexAny(text, ";|&\n"); i >= 0 {
		text = text[i+1:]
	}
	target := false // of a redirection
	if i := strings.LastIndexAny(text, "<>"); i >= 0 {
		text, target = text[i+1:], true
	}
	i := strings.LastIndexAny(text, " \t") + 1
	words, word = strings.Fields(text[:i]), text[i:]
	return words, word, len(words) == 0 && !target
}

// paths lists the names in dir that begin with base; directories end in "/".
func paths(dir, base string) []string {
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
