package gotypes

import (
	"strings"

	"sonde/kallsyms"
)

// Entry is a function of the image.
type Entry struct {
	Addr uint64
	Name string
}

// Entries returns all functions of an image, in the order of addresses; those of one address count once.
func Entries(syms *kallsyms.Table) (list []Entry) {
	for s := range syms.Text {
		if n := len(list); n > 0 && list[n-1].Addr == s.Addr {
			list[n-1].Name = s.Name // the last is what is there
		} else {
			list = append(list, Entry{s.Addr, s.Name})
		}
	}
	return list
}

// cutName cuts a function's name at its last point: receiver or package, and method.
func cutName(name string) (of, method string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}

// names are what a function's name tells of what the function takes and gives.
type names struct {
	of, method, pkg, word, class uint32 // contexts: the name up to its last point, and so on
	receiver                     string // the type of its first argument, if it is a method
}

func namesOf(name string) (n names) {
	of, method := cutName(name)
	path, _, _ := strings.Cut(of, "[")
	begin := strings.LastIndexByte(path, '/') + 1
	pkg, _, deeper := strings.Cut(of[begin:], ".")
	pkg = of[:begin] + pkg
	if rest, ok := strings.CutPrefix(of[len(pkg):], ".("); ok {
		n.receiver = strings.TrimSuffix(rest[:1]+pkg+"."+rest[1:], ")")
	} else if deeper {
		n.receiver = of
	}
	word := method
	if i := strings.IndexFunc(method[min(1, len(method)):], func(r rune) bool { return 'A' <= r && r <= 'Z' }); i >= 0 {
		word = method[:i+1]
	}
	n.of, n.method, n.pkg, n.word = hashText(of), hashText(method), hashText(pkg), hashText(word)
	n.class = hashText(strings.TrimRight(method, "0123456789"))
	return n
}

func hashText(s string) uint32 {
	h := uint32(len(s))
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
