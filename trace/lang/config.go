package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mapKinds are the types of maps that can be declared.
var mapKinds = []string{"hash", "percpuhash", "lruhash", "percpulruhash"}

// without are settings of bpftrace that change nothing here.
var without = strings.Fields("cache_user_symbols cpp_demangle lazy_symbolication log_size max_bpf_progs on_stack_limit show_debug_info " +
	"unstable_tseries unstable_dw_ustack unstable_import unstable_map_decl unstable_macro use_blazesym debug_output")

// MaxCat is the most bytes of a file that cat() can print.
const MaxCat = 1 << 20

// configure reads the config. Settings may be called as bpftrace's variables of the environment.
func (c *checker) configure() {
	c.settings = Settings{MaxKeys: 4096, MaxString: 64, RingBytes: 64 << 10, Stack: 127, StackMode: "bpftrace", PrintMaps: true, Missing: "error", MaxCat: 10240, MaxProbes: 4096}
	sizes := map[string]struct {
		to        *int
		low, high int
	}{"max_map_keys": {&c.settings.MaxKeys, 1, 1 << 20}, "max_strlen": {&c.settings.MaxString, 1, maxText}, "max_cat_bytes": {&c.settings.MaxCat, 1, MaxCat},
		"max_probes": {&c.settings.MaxProbes, 1, 1 << 16}, "perf_rb_pages": {&c.settings.RingBytes, 1, 4096}}
	names := slices.Concat(keys(sizes), without, []string{"print_maps_on_exit", "stack_mode", "license", "missing_probes", "str_trunc_trailer", "dummy_ts_map"})
	for _, s := range c.Config {
		name := strings.ToLower(strings.TrimPrefix(s.Name, "BPFTRACE_"))
		size, ok := sizes[name]
		n, err := strconv.ParseUint(s.Value, 0, 32)
		switch {
		case ok && (err != nil || int(n) < size.low || int(n) > size.high):
			c.refuse(s, "", "%s is a number from %d to %d", s.Name, size.low, size.high)
		case name == "perf_rb_pages":
			*size.to = ringBytes(int(n))
		case ok:
			*size.to = int(n)
		case !slices.Contains(names, name):
			c.refuse(s, didYouMean(name, names), "%s: not a known configuration option", s.Name)
		default:
			c.setting(s, name)
		}
	}
}

// ringBytes is room for so many pages of records: a power of 2.
func ringBytes(pages int) int {
	n := 4096
	for n < pages*4096 {
		n *= 2
	}
	return n
}

// setting reads a setting that is no number.
func (c *checker) setting(s Setting, name string) {
	one := func(values ...string) {
		if !slices.Contains(values, s.Value) {
			c.refuse(s, "", "Invalid value for %s. Found: %s. Valid values: %s.", s.Name, printable(s.Value), strings.Join(values, ", "))
		}
	}
	switch name {
	case "print_maps_on_exit":
		one("true", "false", "1", "0")
		c.settings.PrintMaps = s.Value == "true" || s.Value == "1"
	case "stack_mode":
		one(stackModes...)
		c.settings.StackMode = s.Value
	case "license":
		one("Dual MIT/GPL", "Dual BSD/GPL", "Dual MPL/GPL", "GPL and additional rights", "GPL v2", "GPL")
	case "missing_probes":
		one("error", "warn", "ignore")
		c.settings.Missing = s.Value
	case "dummy_ts_map":
		c.settings.TimeMap = s.Value
	}
}

// refuse says what is wrong with a setting. One from the command line stands nowhere in the script.
func (c *checker) refuse(s Setting, hint, format string, args ...any) {
	panic(thrown{&Error{Source: c.Source, Span: s.Span, Why: fmt.Sprintf(format, args...), Hint: hint, Plain: s.Span == Span{}}})
}

// unknownOptions refuses options that the script does not ask for.
func (c *checker) unknownOptions() {
	for _, name := range keys(c.Named) {
		if _, ok := c.options[name]; ok {
			continue
		}
		var lines []string
		for _, o := range keys(c.options) {
			line := "--" + o
			if what := c.options[o]; what != "" {
				line += ": " + what
			}
			lines = append(lines, line)
		}
		hint := "the script takes no options"
		if len(lines) > 0 {
			hint = "expected program options: " + strings.Join(lines, "\n")
			if len(lines) > 1 || name == "help" {
				hint = "expected program options:\n" + strings.Join(lines, "\n")
			}
		}
		panic(thrown{&Error{Source: c.Source, Why: "unexpected program command line options: --" + printable(name), Hint: hint, Plain: true}})
	}
}
