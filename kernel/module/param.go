package module

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// Param is a parameter: a variable with a type and a description.
type Param struct {
	Type string // "string", "int", "uint", "bool"
	Doc  string
	set  func(string) error
	get  func() string
	// check returns an error for values that set would accept but that make no sense; it
	// may be nil.
	check func(string) error
	// from returns a value as it is meant by a caller in a folder; it may be nil.
	from func(dir, value string) string
	def  string // the value at registration
}

// From has values that name files be meant as seen from the folder of whoever loads the module. It returns p.
func (p *Param) From(from func(dir, value string) string) *Param {
	p.from = from
	return p
}

// Within restricts an Int to the numbers from lo to hi. It returns p.
func (p *Param) Within(lo, hi int64) *Param {
	p.check = func(s string) error {
		if n, err := strconv.ParseInt(s, 0, 64); err == nil && (n < lo || n > hi) {
			return fmt.Errorf("%d is not from %d to %d", n, lo, hi)
		}
		return nil
	}
	return p
}

// Given refuses an empty value. It returns p.
func (p *Param) Given() *Param {
	p.check = func(s string) error {
		if s == "" {
			return errors.New("it is empty")
		}
		return nil
	}
	return p
}

// forms says what a parameter of a type takes.
var forms = map[string]string{
	"int":  "a whole number",
	"uint": "a whole number, 0 or more",
	"bool": "0, 1, n, y, false or true",
}

// Params are the parameters of an instance by name.
type Params map[string]*Param

// Value returns the value as text.
func (p *Param) Value() string { return p.get() }

// String binds a parameter to a string.
func String(v *string, doc string) *Param {
	return &Param{Type: "string", Doc: doc,
		set: func(s string) error { *v = s; return nil },
		get: func() string { return *v },
	}
}

// Int binds a parameter to an integer, written in decimal or with 0x.
func Int(v *int, doc string) *Param {
	return number("int", v, doc, func(s string) (int, error) {
		n, err := strconv.ParseInt(s, 0, 64)
		return int(n), err
	})
}

// Uint binds a parameter to an unsigned integer, such as an address.
func Uint(v *uint64, doc string) *Param {
	return number("uint", v, doc, func(s string) (uint64, error) { return strconv.ParseUint(s, 0, 64) })
}

func number[T int | uint64](kind string, v *T, doc string, parse func(string) (T, error)) *Param {
	return &Param{Type: kind, Doc: doc,
		set: func(s string) error {
			n, err := parse(s)
			if err == nil {
				*v = n
			}
			return err
		},
		get: func() string { return fmt.Sprint(*v) },
	}
}

// Bool binds a parameter to a switch: 0, 1, n, y, false or true. The name alone, without a
// value, means 1.
func Bool(v *bool, doc string) *Param {
	return &Param{Type: "bool", Doc: doc,
		set: func(s string) error {
			switch strings.ToLower(s) {
			case "1", "y", "true":
				*v = true
			case "0", "n", "false":
				*v = false
			default:
				return syscall.EINVAL
			}
			return nil
		},
		get: func() string {
			if *v {
				return "y"
			}
			return "n"
		},
	}
}

// Names returns the names of the parameters in order.
func (ps Params) Names() []string { return slices.Sorted(maps.Keys(ps)) }

// bind notes the defaults.
func (ps Params) bind() {
	for _, p := range ps {
		p.def = p.get()
	}
}

// reset resets all parameters to their defaults.
func (ps Params) reset() {
	for _, p := range ps {
		p.set(p.def) // cannot fail: get wrote it
	}
}

// set sets parameters from words of the form "name=value" of a caller in a folder.
//
// Errors: EINVAL, with the names of the parameters.
func (ps Params) set(dir string, words []string) error {
	for _, word := range words {
		name, value, given := strings.Cut(word, "=")
		p := ps[name]
		if p == nil {
			return ps.unknown(name)
		}
		if !given && p.Type != "bool" {
			return refusal.New(syscall.EINVAL, "parameter %s: give a value, as in %s=VALUE", name, name)
		} else if !given {
			value = "1"
		}
		if p.from != nil {
			value = p.from(dir, value)
		}
		if p.check != nil {
			if err := p.check(value); err != nil {
				return refusal.New(syscall.EINVAL, "parameter %s=%s: %v", name, value, err)
			}
		}
		if err := p.set(value); err != nil {
			return refusal.New(syscall.EINVAL, "parameter %s=%s: give %s", name, value, forms[p.Type])
		}
	}
	return nil
}

func (ps Params) unknown(name string) error {
	if len(ps) == 0 {
		return refusal.New(syscall.EINVAL, "parameter %q: the module has no parameters", name)
	}
	return refusal.New(syscall.EINVAL, "unknown parameter %q (known: %s)", name, strings.Join(ps.Names(), ", "))
}
