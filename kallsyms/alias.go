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
	order  sync.Once
	byName map[string]int
}

// Aliases returns the C names of all functions, in the order of their addresses, and then Linux's names. The
// names of Linux are not C names of other functions: such a function has no C name.
func (t *Table) Aliases() []Alias {
	t.aliases.once.Do(t.makeAliases)
	return t.aliases.all
}

func (t *Table) makeAliases() {
	functions := slices.AppendSeq(make([]Symbol, 0, t.n), t.functions)
	names := make([]string, len(functions))
	for i, s := range functions {
		names[i] = strings.TrimSuffix(s.Name, abi0)
	}
	all := make([]Alias, 0, len(functions)+len(linux))
	for i, name := range CNames(names) {
		if _, taken := Linux(name); !taken {
			all = append(all, Alias{name, functions[i], false})
		}
	}
	for _, l := range linux {
		if s, err := t.Addr(l.Func); err == nil {
			all = append(all, Alias{l.Name, s, true})
		}
	}
	t.aliases.all = all
}

// functions calls yield for the symbols of code that is a function, one for each address.
func (t *Table) functions(yield func(Symbol) bool) {
	for i := range t.n {
		if i+1 < t.n && t.addr(i+1) == t.addr(i) {
			continue // Lookup finds the last one
		}
		if s := t.symbol(i); s.IsText() && s.Size > 0 && !yield(s) {
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
	a, all := &t.aliases, t.Aliases()
	a.order.Do(func() {
		a.byName = make(map[string]int, len(all))
		for i := range all {
			a.byName[all[i].Name] = i
		}
	})
	i, ok := a.byName[name]
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

// WriteAliases prints the aliases as WriteTo prints symbols, each with [alias] after it, as if they were a
// module's.
func (t *Table) WriteAliases(w io.Writer) error {
	var buf []byte
	for _, a := range t.Aliases() {
		buf = appendLine(buf, a.Symbol.Addr, a.Symbol.Type, a.Name+"\t[alias]")
	}
	_, err := w.Write(buf)
	return err
}

// inC returns what returns the names by which tools know the symbol at an address: Linux's if there are some, or else
// that which C allows. It must be asked in the order of addresses.
func (t *Table) inC() func(addr uint64) []string {
	rest := t.Aliases()
	linux := map[uint64][]string{}
	for n := len(rest) - 1; n >= 0 && rest[n].Linux; n-- {
		if s := rest[n].Symbol; !s.IsText() || t.isFunction(s) {
			linux[s.Addr] = append(linux[s.Addr], rest[n].Name)
		}
		rest = rest[:n]
	}
	var one [1]string
	return func(addr uint64) []string {
		if names := linux[addr]; names != nil {
			return names
		}
		for len(rest) > 0 && rest[0].Symbol.Addr < addr {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Symbol.Addr > addr {
			return nil
		}
		one[0] = rest[0].Name
		return one[:]
	}
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
		var known []string
		if i == 0 || t.addr(i-1) != s.Addr || s.IsText() {
			known = names(s.Addr)
		}
		for _, name := range known {
			buf = appendLine(buf, s.Addr, s.Type, name)
		}
		if len(known) == 0 {
			buf = appendLine(buf, s.Addr, s.Type, s.Name)
		}
	}
	_, err := w.Write(buf)
	return err
}

// WriteFunctions prints the names of all functions, a line each, as the file
// available_filter_functions has them: one of each function, so that patterns count a call once, but all of Linux's.
func (t *Table) WriteFunctions(w io.Writer) error {
	names := t.inC()
	var buf []byte
	for s := range t.functions {
		for _, name := range names(s.Addr) {
			buf = append(append(buf, name...), '\n')
		}
	}
	_, err := w.Write(buf)
	return err
}
