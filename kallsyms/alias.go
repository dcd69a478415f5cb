package kallsyms

import (
	"io"
	"slices"
	"strings"
	"sync"
)

// An Alias is another name of a symbol: what C allows (CNames), or Linux's name of a function that does the
// same.
type Alias struct {
	Name   string
	Symbol Symbol
	Linux  bool
}

// aliases are made when somebody first asks for a name that may be one.
type aliases struct {
	once   sync.Once
	all    []Alias // Linux's after those of C
	byName map[string]int
}

// Aliases returns the C names of all functions, in the order of their addresses, and then Linux's names. The
// names that are Linux's are nobody's C name: such a function has none.
func (t *Table) Aliases() []Alias {
	t.aliases.once.Do(t.makeAliases)
	return t.aliases.all
}

func (t *Table) makeAliases() {
	a := &t.aliases
	add := func(name string, s Symbol, linux bool) {
		a.byName[name] = len(a.all)
		a.all = append(a.all, Alias{name, s, linux})
	}
	functions := slices.AppendSeq(make([]Symbol, 0, t.n), t.functions)
	a.all, a.byName = make([]Alias, 0, len(functions)), make(map[string]int, len(functions))
	names := make([]string, len(functions))
	for i, s := range functions {
		names[i] = strings.TrimSuffix(s.Name, abi0)
	}
	for i, name := range CNames(names) {
		if _, taken := Linux(name); !taken {
			add(name, functions[i], false)
		}
	}
	for _, l := range linux {
		if s, err := t.Addr(l.Func); err == nil {
			add(l.Name, s, true)
		}
	}
}

// functions calls yield for the symbols of code that is a function, one for each address.
func (t *Table) functions(yield func(Symbol) bool) {
	for s := range t.Text {
		if t.isFunction(s) && !yield(s) {
			return
		}
	}
}

// isFunction tells whether a symbol is that of a function, and not a mark of the linker's before one.
func (t *Table) isFunction(s Symbol) bool {
	name, _, size, _ := t.Lookup(s.Addr)
	return s.IsText() && size > 0 && name == s.Name
}

// alias returns the symbol whose alias a name is.
func (t *Table) alias(name string) (Symbol, bool) {
	if !isC(name) {
		return Symbol{}, false
	}
	all := t.Aliases()
	i, ok := t.aliases.byName[name]
	if !ok {
		return Symbol{}, false
	}
	return all[i].Symbol, true
}

// isC reports whether C allows a name.
func isC(name string) bool {
	for _, c := range []byte(name) {
		if !allowed(c) {
			return false
		}
	}
	return name != "" && (name[0] < '0' || name[0] > '9')
}

// WriteAliases prints the aliases as WriteTo prints symbols, each with [alias] behind it, as if they were a
// module's.
func (t *Table) WriteAliases(w io.Writer) error {
	var buf []byte
	for _, a := range t.Aliases() {
		buf = appendLine(buf, a.Symbol.Addr, a.Symbol.Type, a.Name+"\t[alias]")
	}
	_, err := w.Write(buf)
	return err
}

// inC returns the names by address by which tools know symbols: Linux's if there are some, or else that which C allows.
func (t *Table) inC() map[uint64][]string {
	all := t.Aliases()
	names := make(map[uint64][]string, len(all))
	for _, a := range slices.Backward(all) { // Linux's first
		at := a.Symbol.Addr
		if mark := a.Symbol.IsText() && !t.isFunction(a.Symbol); !mark && (a.Linux || len(names[at]) == 0) {
			names[at] = append(names[at], a.Name)
		}
	}
	return names
}

// WriteC prints the table for tools that name an address by one symbol, and know C's names alone. What is no function
// has its own name, unless it has Linux's.
func (t *Table) WriteC(w io.Writer) error {
	names := t.inC()
	var buf []byte
	for i := range t.n {
		s := t.symbol(i)
		if s.IsText() && !t.isFunction(s) {
			continue // a mark of the linker's
		}
		for _, name := range names[s.Addr] {
			buf = appendLine(buf, s.Addr, s.Type, name)
		}
		if len(names[s.Addr]) == 0 {
			buf = appendLine(buf, s.Addr, s.Type, s.Name)
		}
	}
	_, err := w.Write(buf)
	return err
}

// WriteFunctions prints the names of all functions that can be probed, a line each, as the file
// available_filter_functions has them: one of each function, so that patterns count a call once, but all of Linux's.
func (t *Table) WriteFunctions(w io.Writer) error {
	names := t.inC()
	var buf []byte
	for s := range t.functions {
		for _, name := range names[s.Addr] {
			if s.Flags&NoProbe == 0 {
				buf = append(append(buf, name...), '\n')
			}
		}
	}
	_, err := w.Write(buf)
	return err
}
