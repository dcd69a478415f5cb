package source

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/attach"
	"sonde/kernel/vfs"
	"sonde/trace/ctypes"
	"sonde/trace/lang"
)

// debugged is what is known of a program's file, or why nothing is.
type debugged struct {
	file *ctypes.File
	err  error
}

// debug reads what the compiler says of a program's file, once.
func (s *Source) debug(path string) (*ctypes.File, error) {
	if d, ok := s.known[path]; ok {
		return d.file, d.err
	}
	var d debugged
	if sections, err := s.Debug(path); err != nil {
		d.err = err
	} else if d.file, d.err = ctypes.Open(sections); d.err != nil {
		d.err = fmt.Errorf("%s: %w", path, d.err)
	}
	if s.known == nil {
		s.known = map[string]debugged{}
	}
	s.known[path] = d
	return d.file, d.err
}

// describeProgram has a target know the arguments of a function of a program, and the program's types, when
// a script asks for them.
func (s *Source) describeProgram(t *lang.Target, p *lang.Point, site attach.Site) {
	if s.Debug == nil || site.Pattern() {
		return
	}
	file, _ := sourceFile(p)
	path := programPath(file)
	t.CType = func(name string) (lang.Type, bool) {
		f, err := s.debug(path)
		if err != nil {
			return lang.Type{}, false
		}
		return f.Named(name)
	}
	if site.Return || site.Symbol == "" || site.Offset != 0 {
		return
	}
	t.Fill = func() error {
		f, err := s.debug(path)
		if err != nil {
			return err
		}
		t.Fields, err = f.Function(site.Symbol, cArgs)
		return err
	}
}

// hasFunction tells whether a function is in a program's file. What is wrong otherwise, attaching says.
func (s *Source) hasFunction(path, name string) error {
	name, _, _ = strings.Cut(name, "+")
	path = programPath(path)
	if st, err := vfs.Stat(path); s.Symbol == nil || err != nil || st.IsDir() || name == "" || name[0] >= '0' && name[0] <= '9' || isPattern(name) {
		return nil
	}
	if _, _, err := s.Symbol(path, name); !errors.Is(err, syscall.ENOENT) {
		return nil
	}
	h := hinted("there is no function "+name+" in "+path, name, s.Functions(path)).(*lang.Hinted)
	h.Missing = true
	return h
}

// sourceFile cuts a point that is a line of a program's source, FILE@SOURCE:LINE. source is "" if it is none.
func sourceFile(p *lang.Point) (file, source string) {
	at := strings.LastIndexByte(p.Options[0], '@')
	if at < 0 {
		return p.Options[0], ""
	}
	return p.Options[0][:at], p.Options[0][at+1:]
}

// userPlaces are where a probe in a program is: behind a prefix, of each file that fits.
func (s *Source) userPlaces(p *lang.Point, prefix string) (places []string, err error) {
	path, source := sourceFile(p)
	if source != "" {
		where, err := s.linePlace(path, source, p.Options[1])
		return []string{prefix + where}, err
	}
	switch one := []string{prefix + file(path) + ":" + p.Options[1]}; {
	case p.Loose: // Expand has found it
		return one, nil
	case !isPattern(path):
		return one, s.hasFunction(path, p.Options[1])
	}
	for _, f := range files(path) {
		if s.Functions != nil && s.functionsOf(f, p.Options[1]) != nil {
			places = append(places, prefix+f+":"+p.Options[1])
		}
	}
	if places == nil {
		return nil, &lang.Hinted{Why: fmt.Sprintf("no program that fits %s has a function %s", path, p.Options[1]), Missing: true}
	}
	return places, nil
}

// linePlace is where the code of a line of a program's source begins.
func (s *Source) linePlace(path, source, number string) (string, error) {
	line, err := strconv.ParseUint(number, 10, 31)
	switch {
	case err != nil || line == 0:
		return "", fmt.Errorf("%q is not a line: give uprobe:FILE@SOURCE:LINE", number)
	case s.Debug == nil:
		return "", fmt.Errorf("this kernel runs no programs")
	}
	f, err := s.debug(programPath(path))
	if err != nil {
		return "", err
	}
	function, off, err := f.Line(source, int(line))
	if err != nil {
		return "", err
	}
	if off != 0 {
		function += fmt.Sprintf("+%#x", off)
	}
	return file(path) + ":" + function, nil
}
