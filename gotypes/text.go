package gotypes

import (
	"slices"
	"strings"
)

// Text says what a function takes and gives, and where: f *vfs.File AX. What a generic function is given
// of its type arguments is called dictionary.
func (t *Table) Text(c Call) (args, results []string) {
	args, results = t.texts(c.Args), t.texts(c.Results)
	if c.Hidden != nil {
		args = slices.Insert(args, Dictionary(c.Name), "dictionary "+c.Hidden.String())
	}
	return args, results
}

func (t *Table) texts(args []Arg) (list []string) {
	for _, a := range args {
		text := Short(t.Type(a.Type).Name) + " " + a.Place.String()
		if a.Name != "" && a.Name[0] != '~' { // as the compiler calls results without a name
			text = a.Name + " " + text
		}
		list = append(list, text)
	}
	return list
}

// Short returns the name of a type without the paths of packages, as people and the runtime write it:
// *vfs.File for *sonde/kernel/vfs.File.
func Short(name string) string {
	b := make([]byte, 0, len(name))
	begin := 0 // in b, of the path
	for _, c := range []byte(name) {
		if c == '/' {
			b = b[:begin]
			continue
		}
		b = append(b, c)
		if strings.IndexByte(" (){}*,;[]", c) >= 0 {
			begin = len(b)
		}
	}
	return string(b)
}
