package places

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kallsyms/pcln"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
)

// A Spot is one instruction: its Site is of kind Kernel, and no pattern.
type Spot struct {
	attach.Site
	Part   int  // the part of the place that it begins; -1: of inline:, it is the function itself
	Lowest bool // it is the lowest address of that part
}

// Found is what a place stands for.
type Found struct {
	Spots []Spot
	Parts int    // how many there are, with those where no probe can be
	what  string // what the parts are: places, copies; "": a place that says where by itself
}

// Several reports whether the place is of a kind that stands for several instructions.
func (f Found) Several() bool { return f.what != "" }

// Summary says how many parts have a probe, as "12 of 14 copies"; has tells whether a spot has one. It is
// "" for a place that says where by itself.
func (f Found) Summary(has func(s *Spot) bool) string {
	if f.what == "" {
		return ""
	}
	probed, n, function := make([]bool, f.Parts), 0, ""
	for i := range f.Spots {
		switch s := &f.Spots[i]; {
		case !has(s):
		case s.Part < 0:
			function = ", and the function"
		case !probed[s.Part]:
			probed[s.Part] = true
			n++
		}
	}
	what := f.what
	if f.Parts == 1 {
		what = map[string]string{"places": "place", "copies": "copy", "functions": "function"}[what]
	}
	return fmt.Sprintf("%d of %d %s%s", n, f.Parts, what, function)
}

// An Image is the code in which places are found.
type Image struct {
	Symbols *kallsyms.Table
	Lines   *pcln.Table
	Code    func(addr, n uint64) []byte           // as it was linked; nil: there is none
	Word    func(addr uint64) (v uint64, ok bool) // of read-only data
}

// Find returns the instructions of a place. Whether they can have a probe is for others to say.
//
// Errors: EINVAL it is no place in the kernel, or what it names is ambiguous; ENOENT a pattern, line,
// file or copy that does not exist, with near ones.
func (im *Image) Find(s attach.Site) (Found, error) {
	switch {
	case s.Kind == attach.Line:
		return im.line(s)
	case s.Kind == attach.Inline:
		return im.copies(s)
	case s.Kind != attach.Kernel:
		return Found{}, refusal.New(syscall.EINVAL, "%s is a %s, not a place in the kernel", s, s.Kind)
	case !s.Pattern():
		return Found{Spots: []Spot{{Site: s}}, Parts: 1}, nil
	}
	f := Found{what: "functions"}
	for i, fn := range im.Symbols.Functions(s.Symbol) {
		f.Spots = append(f.Spots, Spot{attach.Site{Symbol: fn.Name, Addr: fn.Addr, Return: s.Return}, i, true})
	}
	f.Parts = len(f.Spots)
	if f.Parts == 0 {
		return f, refusal.New(syscall.ENOENT, "no function matches %s", s.Symbol)
	}
	return f, nil
}

// line finds the places of a source line.
func (im *Image) line(s attach.Site) (Found, error) {
	file, err := im.file(s.File)
	if err != nil {
		return Found{}, err
	}
	parts := im.Lines.Line(file, s.Line)
	if len(parts) == 0 {
		return Found{}, im.noCode(file, s.Line)
	}
	return im.spots("places", parts), nil
}

// Between returns what the lines from first to last of a file stand for, by line, and the file's whole name. Lines
// without code are left out.
//
// Errors: EINVAL, ENOENT of the file.
func (im *Image) Between(typed string, first, last int) (file string, found map[int]Found, err error) {
	if file, err = im.file(typed); err != nil {
		return "", nil, err
	}
	found = map[int]Found{}
	for line, parts := range im.Lines.Between(file, first, last) {
		found[line] = im.spots("places", parts)
	}
	return file, found, nil
}

// whole returns all names, and those that fit what was typed, which may be cut at any slash. Of a whole name, that is all.
func whole(typed string, all iter.Seq[string]) (fit, names []string) {
	for name := range all {
		if name == typed || kallsyms.Cut(name) == typed {
			return []string{name}, nil
		}
		if strings.HasSuffix(name, "/"+typed) {
			fit = append(fit, name)
		}
		names = append(names, name)
	}
	slices.Sort(fit)
	return fit, names
}

// file returns the whole name of a file.
func (im *Image) file(typed string) (string, error) {
	fit, names := whole(typed, im.Lines.Files)
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return "", refusal.New(syscall.EINVAL, "%s is %d files: %s; give more of the path", typed, len(fit), list(fit, 5))
	}
	near := nearFiles(typed, names)
	if len(near) == 0 {
		return "", refusal.New(syscall.ENOENT, "no source file of the kernel is called %s", typed)
	}
	return "", refusal.New(syscall.ENOENT, "no source file of the kernel is called %s (did you mean %s?)", typed, list(near, 3))
}

// nearFiles returns files of which as many last elements as were typed are nearly those, or of which
// the last one is.
func nearFiles(typed string, names []string) []string {
	depth := strings.Count(typed, "/")
	near := nearest(typed, names, func(name string) string {
		parts := strings.Split(name, "/")
		return strings.Join(parts[max(0, len(parts)-1-depth):], "/")
	})
	if len(near) > 0 {
		return near
	}
	_, typed = path.Split(typed)
	return nearest(typed, names, path.Base)
}

// nearest returns those of names of which the part is the fewest edits away from what was typed.
func nearest(typed string, names []string, part func(string) string) (near []string) {
	byPart := map[string][]string{}
	var parts []string
	for _, name := range names {
		p := strings.ToLower(part(name))
		byPart[p] = append(byPart[p], name)
		parts = append(parts, p)
	}
	for _, p := range kallsyms.Nearest(typed, parts) {
		near = append(near, byPart[p]...)
	}
	return near
}

// noCode tells the lines next to one that has no code.
func (im *Image) noCode(file string, line int) error {
	lines := im.Lines.Lines(file)
	if len(lines) == 0 {
		return refusal.New(syscall.ENOENT, "%s has no code", file)
	}
	i, _ := slices.BinarySearch(lines, line)
	near := ""
	switch {
	case i == 0:
		near = fmt.Sprintf("the first line that has some is %d", lines[0])
	case i == len(lines):
		near = fmt.Sprintf("the last line that has some is %d", lines[i-1])
	default:
		near = fmt.Sprintf("the nearest lines that have some are %d and %d", lines[i-1], lines[i])
	}
	return refusal.New(syscall.ENOENT, "line %d of %s has no code; %s", line, file, near)
}

// copies finds the inlined copies of a function, and the function.
func (im *Image) copies(s attach.Site) (Found, error) {
	name, err := im.inlined(s)
	if err != nil {
		return Found{}, err
	}
	fits := func(have string) bool { return kallsyms.Cut(have) == kallsyms.Cut(name) }
	if s.Pattern() {
		fits = func(have string) bool { return kallsyms.Fits(s.Symbol, have) }
	}
	f := im.spots("copies", im.Lines.Copies(fits))
	for fn := range im.Symbols.Text {
		if fn.Size > 0 && fits(fn.Name) {
			f.Spots = append(f.Spots, Spot{attach.Site{Symbol: fn.Name, Addr: fn.Addr}, -1, true})
		}
	}
	return f, nil
}

// inlined returns the whole name of an inlined function; of a pattern, any that fits.
func (im *Image) inlined(s attach.Site) (string, error) {
	fit, names := whole(s.Symbol, im.Lines.Inlined)
	switch i := slices.IndexFunc(names, func(name string) bool { return s.Pattern() && kallsyms.Fits(s.Symbol, name) }); {
	case i >= 0:
		return names[i], nil
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return "", refusal.New(syscall.EINVAL, "inline:%s: there are copies of %d such functions: %s; give more of the path", s.Symbol, len(fit), list(fit, 5))
	}
	if fn, err := im.Symbols.Resolve(s.Symbol); err == nil && fn.IsText() {
		return "", refusal.New(syscall.ENOENT, "%s is nowhere inlined; give it without inline:", s.Symbol)
	}
	if near := nearest(s.Symbol, names, kallsyms.Base); len(near) > 0 {
		return "", refusal.New(syscall.ENOENT, "no function %s is inlined anywhere (did you mean %s?)", s.Symbol, list(near, 3))
	}
	return "", refusal.New(syscall.ENOENT, "no function %s is inlined anywhere", s.Symbol)
}

// list joins at most n names.
func list(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
