package shell

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
)

// language are the commands that change the shell itself.
var language = []*Command{
	{Name: ":", Usage: "[word...]", Help: "do nothing", Verbatim: true, Run: func(*Context, []string) error { return nil }},
	{Name: "cd", Usage: "[directory]", Help: "change the directory (-: to the one before)", Run: cd},
	{Name: "pwd", Help: "print the directory", Run: func(c *Context, _ []string) error {
		_, err := fmt.Fprintln(c.Out, c.Shell.dir)
		return err
	}},
	{Name: "shift", Usage: "[count]", Help: "drop the first parameters of a script or function", Run: shift},
	{Name: "unset", Usage: "[-fv] name...", Help: "forget variables and functions", Options: "+fv", Run: unset},
	{Name: "set", Usage: "[-efux] [-o pipefail] [--] [parameter...]", Help: "list the variables, change options or parameters (-e: leave after a failure, -u: unset variables are errors, -x: print what runs, -f: no patterns)", Verbatim: true, Run: setOptions},
	{Name: "read", Usage: "[-r] [-p prompt] [name...]", Help: "read a line into variables", Options: "rp:", Run: read},
	{Name: "trap", Usage: "[script|-] EXIT", Help: "run a script when the shell ends", Verbatim: true, Run: keepTrap},
	{Name: "return", Usage: "[status]", Help: "leave a function, or a file that . reads", Run: leave(returning)},
	{Name: "break", Usage: "[loops]", Help: "leave a loop", Run: leave(breaking)},
	{Name: "continue", Usage: "[loops]", Help: "continue with the next round of a loop", Run: leave(continuing)},
}

func cd(c *Context, args []string) error {
	s := c.Shell
	to := s.vars["HOME"].String()
	switch {
	case len(args) > 1:
		return Usagef("give one directory")
	case len(args) == 1 && args[0] == "-":
		to = s.vars["OLDPWD"].String()
		if to == "" {
			return fmt.Errorf("there is no directory before")
		}
		fmt.Fprintln(c.Out, to)
	case len(args) == 1:
		to = args[0]
	}
	old := s.dir
	if err := s.enter(to); err != nil {
		return err
	}
	return s.set("OLDPWD", old)
}

// enter makes a directory the shell's.
//
// Errors: ENOENT, ENOTDIR, ELOOP.
func (s *Shell) enter(to string) error {
	dir := path.Clean(s.path(to))
	if _, err := vfs.Root.PlaceAt(vfs.Root.RootPlace(), dir, true, true); err != nil {
		return err
	}
	s.dir = dir
	return nil
}

func shift(c *Context, args []string) error {
	n := 1
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil || n < 0 {
			return Usagef("%q is not a count", args[0])
		}
	}
	s := c.Shell
	if n > len(s.params) {
		return fmt.Errorf("there are only %d parameters", len(s.params))
	}
	s.params = s.params[n:]
	return nil
}

func unset(c *Context, args []string) (err error) {
	s := c.Shell
	for _, name := range args {
		if !c.Given('f') && !syntax.ValidName(name) && s.funcs[name] == nil {
			err = cmp.Or(err, fmt.Errorf("%q is not the name of a variable", name))
			continue
		}
		f := s.funcs[name]
		_, isVar := s.vars[name]
		switch {
		case c.Given('f') || f != nil && !isVar && !c.Given('v'):
			if f != nil {
				s.bytes -= f.size
				delete(s.funcs, name)
			}
		default:
			err = cmp.Or(err, s.Set(name, expand.Variable{}))
		}
	}
	return err
}

// option is one that set changes.
type option struct {
	letter rune
	name   string
	on     *bool
}

func (o *options) list() []option {
	return []option{{'e', "errexit", &o.exit}, {'f', "noglob", &o.noGlob}, {'u', "nounset", &o.unset}, {'x', "xtrace", &o.trace}, {0, "pipefail", &o.pipeFail}}
}

func setOptions(c *Context, args []string) error {
	s := c.Shell
	if len(args) == 0 {
		for _, name := range slices.Sorted(maps.Keys(s.vars)) {
			fmt.Fprintf(c.Out, "%s=%s\n", name, quoted(s.Get(name).String()))
		}
		return nil
	}
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		word := args[0]
		args = args[1:]
		if word == "--" {
			s.params = args
			return nil
		}
		if word[1:] == "o" && len(args) > 0 {
			word, args = word[:1]+args[0], args[1:]
		}
		if err := s.option(word[1:], word[0] == '-'); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		s.params = args
	}
	return nil
}

// option turns options on or off: one by its name, or several by their letters.
func (s *Shell) option(word string, on bool) error {
	for _, o := range s.opts.list() {
		if o.name == word {
			*o.on = on
			return nil
		}
	}
	for _, letter := range word {
		i := slices.IndexFunc(s.opts.list(), func(o option) bool { return o.letter == letter })
		if i < 0 {
			return Usagef("unknown option -%c", letter)
		}
		*s.opts.list()[i].on = on
	}
	return nil
}

// leave returns the command that leaves what is around it.
func leave(how flow) func(*Context, []string) error {
	return func(c *Context, args []string) error {
		s, n, err := c.Shell, 1, error(nil)
		if how == returning {
			n = s.status
		}
		if len(args) > 0 {
			n, err = strconv.Atoi(args[0])
		}
		switch {
		case err != nil || len(args) > 1 || n < 0:
			return Usagef("give one number")
		case how == returning:
			s.flow = how
			return Status(n & 0xff)
		case s.loops == 0 || n == 0:
			return fmt.Errorf("there is no loop to leave")
		}
		s.flow, s.levels = how, min(n, s.loops)
		return nil
	}
}

// maxLine is how long a line may be that read reads, in bytes.
const maxLine = 64 << 10

func read(c *Context, args []string) error {
	io.WriteString(c.Out, c.Opts['p'])
	text, err := readLine(c, !c.Given('r'))
	s := c.Shell
	fields := []string{text}
	if len(args) == 0 {
		args = []string{"REPLY"}
	} else {
		fields = expand.ReadFields(&expand.Config{Env: s}, text, len(args), c.Given('r'))
	}
	for i, name := range args {
		if !syntax.ValidName(name) {
			return Usagef("%q is not the name of a variable", name)
		}
		value := ""
		if i < len(fields) {
			value = strings.Trim(fields[i], " \t")
		}
		if e := s.set(name, value); e != nil {
			return e
		}
	}
	if err == io.EOF {
		return Status(statusError)
	}
	return err
}

// readLine reads to the end of a line, byte by byte: what is after it is for others. join says that a
// backslash at the end joins it with the next.
func readLine(c *Context, join bool) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		if c.Interrupted() {
			return "", Status(statusInterrupted)
		}
		n, err := c.In.Read(one)
		switch {
		case n == 1 && one[0] == '\n' && join && len(line) > 0 && line[len(line)-1] == '\\':
			line = line[:len(line)-1]
		case n == 1 && one[0] == '\n':
			return string(line), nil
		case n == 1 && len(line) == maxLine:
			return "", refusal.New(syscall.E2BIG, "the line has more than %d bytes", maxLine)
		case n == 1:
			line = append(line, one[0])
		}
		if err != nil {
			return string(line), err
		}
	}
}
