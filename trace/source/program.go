package source

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"

	"sonde/arch/amd64/goabi"
	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
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

// convention has a target know where the arguments and the result of a function of a program are.
func (s *Source) convention(t *lang.Target, site attach.Site) (c goabi.Convention) {
	if s.Conventions != nil && site.File != "" {
		path := programPath(site.File)
		of, ok := s.conventions[path]
		if !ok {
			if s.conventions == nil {
				s.conventions = map[string]func(attach.Site) goabi.Convention{}
			}
			of = s.Conventions(path)
			s.conventions[path] = of
		}
		c = of(site)
	}
	arguments(t, c, site.Return)
	return c
}

// arguments has a target know where functions of a convention find their arguments.
func arguments(t *lang.Target, c goabi.Convention, returns bool) {
	switch c {
	case goabi.C:
		t.Args = cArgs
	case goabi.Stack:
		t.Args, t.OnStack = stackArgs, true
	default:
		t.Args = goArgs
	}
	if c.Args() == nil && (returns || !t.OnStack) {
		t.Hidden = c.Why()
	}
}

// describeProgram has a target know the arguments of a function of a program, and the program's types, when
// a script asks for them.
func (s *Source) describeProgram(t *lang.Target, p *lang.Point, site attach.Site) {
	if s.Debug == nil || site.Pattern() {
		return
	}
	path := programPath(s.path(p.Options[0]))
	t.CType = func(name string) (lang.Type, error) {
		f, err := s.debug(path)
		if err != nil {
			return lang.Type{}, err
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

// path is a program's file, or its name in /bin, as the caller means it.
func (s *Source) path(name string) string {
	return attach.Site{Kind: attach.Program, File: name}.From(s.Dir).File
}

// probed says why a place in a program's file has no probe, with what may have been meant.
func (s *Source) probed(site attach.Site) error {
	path := programPath(site.File)
	if st, err := vfs.Stat(path); s.Probed == nil || err != nil || st.IsDir() || site.Symbol == "" || site.Pattern() {
		return nil // attaching says what is wrong
	}
	err := s.Probed(path, site.Symbol, site.Offset)
	if !errors.Is(err, syscall.ENOENT) {
		return err
	}
	return missing("there is no function "+site.Symbol+" in "+path, kallsyms.Nearest(site.Symbol, s.Functions(path, "*", true)))
}

// userPlaces are where a probe in a program is: of each file that fits.
func (s *Source) userPlaces(p *lang.Point) (places []attach.Site, err error) {
	path, function := s.path(p.Options[0]), p.Options[1]
	if p.Source != "" {
		if function, err = s.lineFunction(path, p.Source, function); err != nil {
			return nil, err
		}
	}
	paths := []string{file(path)}
	if !p.Loose && isPattern(path) {
		paths = slices.DeleteFunc(files(path), func(f string) bool {
			return s.Functions == nil || len(s.Functions(programPath(f), function, false)) == 0
		})
	}
	for _, f := range paths {
		site, err := attach.Site{Kind: attach.Program, File: f, PID: s.PID, Return: p.Provider == "uretprobe"}.At(function)
		if err != nil {
			return nil, err
		}
		places = append(places, site)
	}
	switch {
	case places == nil:
		return nil, &lang.Hinted{Why: fmt.Sprintf("no program that fits %s has a function %s", path, function), Missing: true}
	case p.Loose || isPattern(path): // what is listed is there
		return places, nil
	}
	return places, s.probed(places[0])
}

// lineFunction is where the code of a line of a program's source begins: FUNCTION+OFFSET.
func (s *Source) lineFunction(path, source, number string) (string, error) {
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
	if err != nil || off == 0 {
		return function, err
	}
	return fmt.Sprintf("%s+%#x", function, off), nil
}
