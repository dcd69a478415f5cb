package run

import (
	"fmt"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-e X", "script X"},
		{"-qeX a b", "script X quiet args [a b]"},
		{"-e X a -c cmd", "script X args [a] command cmd"},
		{"file.bt -x --y", "args [file.bt -x --y]"},
		{"file.bt -- --aa=20", "args [file.bt --aa=20]"},
		{"-e X p -- --aa=20 q --bb", "script X args [p --aa=20 q --bb]"},
		{"-lv kprobe:*", "args [kprobe:*] list verbose"},
		{"--format=folded -o out -e X", "script X output out format folded"},
		{"-f json -B 2.5% -k --dry-run --unsafe --no-warnings -d -e X", "script X json budget 25 show missing dry unsafe nowarnings"},
		{"--config max_strlen=8 -e X", "script X config [max_strlen=8]"},
		{"-p 12 -e X", "script X pid 12"},
		{"-h", "usage"},
	} {
		f, err := ParseFlags(strings.Fields(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
		} else if got := f.show(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.args, got, c.want)
		}
	}
}

// show names what is set.
func (f *Flags) show() string {
	var all []string
	add := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(f.HasScript, "script %s", f.Script)
	add(f.Quiet, "quiet")
	add(len(f.Args) > 0, "args %v", f.Args)
	add(f.WithCommand, "command %s", f.Command)
	add(f.List, "list")
	add(f.Verbose, "verbose")
	add(f.Output != "", "output %s", f.Output)
	add(f.Format != "", "format %s", f.Format)
	add(f.JSON, "json")
	add(f.Budget > 0, "budget %d", f.Budget)
	add(f.Show, "show")
	add(f.Missing, "missing")
	add(f.DryRun, "dry")
	add(f.Unsafe, "unsafe")
	add(f.NoWarnings, "nowarnings")
	add(len(f.Config) > 0, "config %v", f.Config)
	add(f.PID > 0, "pid %d", f.PID)
	add(f.Usage, "usage")
	return strings.Join(all, " ")
}

func TestWrongFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-z", "unknown option -z"},
		{"--nothing", "unknown option --nothing"},
		{"-e X --aa=20", "unknown option --aa"},
		{"-e", "option -e needs a value"},
		{"-f xml -e X", `Invalid output format "xml"`},
		{"--format svg", `"svg" is not a format: give one of folded, chrome, perfetto, pprof`},
		{"-p a1", "invalid integer: a1"},
		{"-p 1a", "invalid trailing bytes: 1a"},
		{"-p 5000000", "Pid out of range: 5000000"},
		{"-B 0", `"0" is not a budget`},
		{"-B NaN", `"NaN" is not a budget`},
	} {
		if _, err := ParseFlags(strings.Fields(c.args)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.args, err, c.want)
		}
	}
}
