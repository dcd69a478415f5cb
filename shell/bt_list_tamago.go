//go:build tamago && !noprobe

package shell

import (
	"cmp"
	"fmt"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/trace/lang"
	"sonde/trace/run"
)

// btList prints what can be probed, or the attach points of a script; with -v, the arguments there.
func btList(c *Context, from btSource, f *run.Flags) error {
	patterns := "*"
	if len(f.Args) > 0 {
		patterns = f.Args[0]
	}
	if st, err := vfs.Stat(c.path(patterns)); f.HasScript || err == nil && !st.IsDir() {
		return btPoints(c, from, f)
	}
	found := 0
	for _, pattern := range lang.Patterns(patterns) {
		from.List(pattern, func(point string) bool {
			found++
			err := btPoint(c, from, point, f.Verbose)
			return err == nil && !c.Interrupted()
		})
	}
	if found == 0 {
		return refusal.New(syscall.ENOENT, "nothing fits %s", patterns)
	}
	return nil
}

// btPoints lists the attach points of a script.
func btPoints(c *Context, from btSource, f *run.Flags) error {
	name, text, params, err := btScript(c, f)
	if err != nil {
		return err
	}
	script, err := lang.Parse(name, text, params...)
	if err != nil {
		return btError(c, err)
	}
	for _, p := range script.Probes {
		for _, point := range p.Points {
			if err := btPoint(c, from, point.Text, f.Verbose); err != nil {
				return err
			}
		}
	}
	return nil
}

// btPoint prints an attach point; with arguments, a line for each.
func btPoint(c *Context, from btSource, point string, arguments bool) error {
	if _, err := fmt.Fprintln(c.Out, point); err != nil || !arguments {
		return err
	}
	script, err := lang.Parse("", point+" { }")
	if err != nil {
		return nil // what List knows and the language does not
	}
	t, err := from.Target(script.Probes[0].Points[0])
	if err != nil {
		return nil // begin, end, or what has none
	}
	for _, a := range t.Arguments() {
		if _, err := fmt.Fprintf(c.Out, "    %s %s\n", cmp.Or(a.Text, a.Type.String()), a.Name); err != nil {
			return err
		}
	}
	return nil
}
