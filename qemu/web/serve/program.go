package serve

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Program is one that the kernel was given. Its symbols say what functions it has, its DWARF which lines these are.
type Program struct {
	Host, Guest string // its file on this host, and in the kernel

	open  sync.Once
	wrong error
	code  map[string]elf.Symbol // functions, by name
	dwarf *dwarf.Data           // nil: it has none
}

// languages are those whose source is shown: a program may name any file of this host.
var languages = []string{".go", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".s", ".S", ".rs"}

// functions returns the names of functions, as scripts have them after uprobe.
func (p *Program) functions() []string {
	p.open.Do(func() { p.wrong = p.read() })
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.code)) {
		all = append(all, p.point(name))
	}
	return all
}

// point is how scripts name a function.
func (p *Program) point(function string) string {
	if strings.ContainsAny(function, " ()*[]{},$\"") {
		function = `"` + function + `"`
	}
	return p.Guest + ":" + function
}

func (p *Program) read() error {
	f, err := elf.Open(p.Host)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := f.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		all, err = f.DynamicSymbols()
	}
	if err != nil {
		return err
	}
	p.code = map[string]elf.Symbol{}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			p.code[s.Name] = s
		}
	}
	p.dwarf, _ = f.DWARF()
	return nil
}

// source returns a function's lines: in a program a probe is a breakpoint, where the code of a line begins.
//
// Errors: of status 400: there is no such function, or no DWARF of it.
func (p *Program) source(function string) (*Source, error) {
	p.functions()
	s, has := p.code[function]
	switch {
	case p.wrong != nil:
		return nil, bad("%s: %v", p.Host, p.wrong)
	case !has:
		return nil, bad("%s has no function %q", p.Guest, function)
	case p.dwarf == nil:
		return nil, bad("%s has no DWARF, which says where its source is: compile it with -g", p.Host)
	}
	file, begin, at, err := p.lines(s)
	if err != nil {
		return nil, bad("%s: the DWARF says nothing of %q: %v", p.Host, function, err)
	}
	src := &Source{Function: p.point(function), Base: p.point(function), File: file, First: begin, Last: begin, Program: true}
	for n := range at {
		src.Last = max(src.Last, n)
	}
	var code [][]Token
	if slices.Contains(languages, path.Ext(file)) {
		code = readSource(file)
	}
	for n := begin; n <= src.Last+1; n++ {
		l := Line{Number: n}
		if n <= len(code) {
			l.Code = code[n-1]
		}
		if addr, has := at[n]; has {
			l.Mark, l.Sign, l.Says = "breakpoint", signs["breakpoint"], "a probe would be hit by a breakpoint in the program"
			l.Place = fmt.Sprintf("uprobe:%s+%#x", src.Base, addr-s.Value)
		} else if n > len(code) {
			continue
		}
		src.Lines = append(src.Lines, l)
	}
	return src, nil
}

// lines returns the file of a function, the line where it begins, and where the code of each of its lines begins. Lines of
// functions that are inlined from the same file are not its own.
func (p *Program) lines(s elf.Symbol) (file string, begin int, at map[int]uint64, err error) {
	r := p.dwarf.Reader()
	unit, err := r.SeekPC(s.Value)
	if err != nil {
		return "", 0, nil, err
	}
	var inlined [][2]uint64
	for e, _ := r.Next(); e != nil && e.Tag != dwarf.TagCompileUnit; e, _ = r.Next() {
		if low, _ := e.Val(dwarf.AttrLowpc).(uint64); e.Tag == dwarf.TagSubprogram && low == s.Value {
			line, _ := e.Val(dwarf.AttrDeclLine).(int64)
			begin, inlined = int(line), p.inlined(r, e)
			break
		}
		r.SkipChildren()
	}
	lines, err := p.dwarf.LineReader(unit)
	if err != nil || lines == nil {
		return "", 0, nil, cmp.Or(err, errors.New("no lines"))
	}
	var e dwarf.LineEntry
	at = map[int]uint64{}
	for lines.Next(&e) == nil {
		if e.EndSequence || !e.IsStmt || e.File == nil || e.Line == 0 || e.Address < s.Value || e.Address >= s.Value+s.Size ||
			slices.ContainsFunc(inlined, func(r [2]uint64) bool { return e.Address >= r[0] && e.Address < r[1] }) {
			continue
		}
		if file == "" {
			file, begin = e.File.Name, cmp.Or(begin, e.Line)
		}
		if old, has := at[e.Line]; e.File.Name == file && (!has || e.Address < old) {
			at[e.Line] = e.Address
		}
	}
	if len(at) == 0 {
		return "", 0, nil, errors.New("no lines")
	}
	return file, begin, at, nil
}

// inlined returns where the code of others is in function e, to which r has come.
func (p *Program) inlined(r *dwarf.Reader, e *dwarf.Entry) (all [][2]uint64) {
	deep := 0
	for ; e != nil; e, _ = r.Next() {
		switch {
		case e.Tag == 0:
			deep--
		case e.Tag == dwarf.TagInlinedSubroutine:
			ranges, _ := p.dwarf.Ranges(e)
			all = append(all, ranges...)
			r.SkipChildren()
		case e.Children:
			deep++
		}
		if deep == 0 {
			break
		}
	}
	return all
}

// program returns the program that a place is in, and what is after its name; nil: the place is in the kernel.
func (s *Server) program(place string) (p *Program, rest string) {
	for _, p := range s.Programs {
		if rest, ok := strings.CutPrefix(place, p.Guest+":"); ok {
			return p, strings.ReplaceAll(rest, `"`, "")
		}
	}
	return nil, ""
}

// programGlass is what records a hit in a program while a command runs that starts it.
func programGlass(q recording, place string) ([]string, error) {
	switch {
	case q.Way:
		return nil, bad("a probe in a program does not become a jump")
	case q.Tier != "" && q.Tier != "goroutine":
		return nil, bad("there is no hit of the kind %q in a program", q.Tier)
	case q.Command == "":
		return nil, bad("give the command that starts the program")
	}
	ask := place
	if q.Hit > 0 {
		ask = fmt.Sprintf("-n %d %s", q.Hit, place)
	}
	if q.Tier != "" {
		ask = fmt.Sprintf("-t %s %s", q.Tier, ask)
	}
	return []string{"sh", "-c", "cd /sys/kernel/debug/glass && echo " + typed([]string{ask}) + " > new && n=$(cat new) && { (cd / && " + q.Command + "\n) > /dev/null 2>&1; cat $n; }"}, nil
}

// readSource returns the lines of a file in colours; nil: it is not there, or too large.
func readSource(file string) [][]Token {
	info, err := os.Stat(filepath.FromSlash(file))
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostSource {
		return nil
	}
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		return nil
	}
	return colour(text)
}
