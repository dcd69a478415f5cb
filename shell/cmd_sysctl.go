package shell

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"sonde/sysctl"
)

var sysctlCommand = &Command{
	Name:     "sysctl",
	Usage:    "[-adnw] [name | name=value...]",
	Options:  "adnw",
	Help:     "show and set kernel parameters (-a: all, -d: with descriptions, -n: values only)",
	Run:      sysctlRun,
	Complete: func(*Shell, []string) []string { return parameterNames() },
}

func sysctlRun(c *Context, args []string) error {
	if c.Given('a') {
		for _, k := range sysctl.All() {
			if err := printParameter(c, k); err != nil {
				return err
			}
		}
		return nil
	}
	if len(args) == 0 {
		return Usagef("no name given")
	}
	var errs []error
	for _, word := range args {
		errs = append(errs, sysctlWord(c, word))
	}
	return errors.Join(errs...)
}

// parameterNames are the names of all parameters.
func parameterNames() (names []string) {
	for _, k := range sysctl.All() {
		names = append(names, k.Name())
	}
	return names
}

// sysctlWord sets or shows a parameter.
func sysctlWord(c *Context, word string) error {
	name, value, set := strings.Cut(word, "=")
	if c.Given('w') && !set {
		return Usagef("-w needs name=value, not %q", word)
	}
	name = strings.TrimSpace(name)
	k, err := sysctl.Lookup(name)
	if err != nil {
		return fmt.Errorf("%w%s", err, cmp.Or(meant(strings.NewReplacer("/", ".", "_", "-").Replace(name), parameterNames()), "; sysctl -a lists all"))
	}
	if set {
		if err := k.Set(strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	return printParameter(c, k)
}

func printParameter(c *Context, k sysctl.Parameter) error {
	line := sysctl.Line(k)
	switch {
	case c.Given('d'):
		line = fmt.Sprintf("%s: %s (default %s)", k.Name(), k.Doc(), k.Default())
	case c.Given('n'):
		line = k.String()
	}
	_, err := fmt.Fprintln(c.Out, line)
	return err
}
