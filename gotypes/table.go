package gotypes

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/refusal"
)

// Table is what is known of an image's types. It is immutable, but for what it finds out when asked.
type Table struct {
	info  *Info
	names []string // of its functions

	copies     []byte // of functions: as they are packed
	readCopies sync.Once
}

// Load unpacks a table of the image that has these functions, in the order of addresses, and types.
//
// Errors: ErrFormat, wrapped with what is wrong.
func Load(blob []byte, entries []Entry, m Memory) (*Table, error) {
	types, copies, ok := parted(blob)
	if !ok {
		f := format{}
		f.fail("it is damaged")
		return nil, f.err
	}
	info, err := decode(types, entries, m)
	if err != nil {
		return nil, err
	}
	t := &Table{info: info, copies: copies, names: make([]string, 0, len(info.Funcs))}
	for _, e := range entries {
		if n := len(t.names); n < len(info.Funcs) && info.Funcs[n].Addr == e.Addr {
			t.names = append(t.names, e.Name)
		}
	}
	return t, nil
}

// Len returns how many types there are; type 0 is unknown.
func (t *Table) Len() int { return len(t.info.Types) }

// Type returns a type, which must not be changed.
func (t *Table) Type(id ID) *Desc {
	if int(id) >= len(t.info.Types) {
		id = 0
	}
	return &t.info.Types[id]
}

// Named finds a type by its name, of which the path may be cut at any slash.
//
// Errors: ENOENT there is none; EINVAL there are several.
func (t *Table) Named(name string) (ID, error) {
	var fit []ID
	for i := range t.info.Types {
		switch have := t.info.Types[i].Name; {
		case i == 0:
		case have == name:
			return ID(i), nil
		case strings.HasSuffix(have, "/"+name) && !strings.ContainsAny(have[:len(have)-len(name)], "[( *"):
			fit = append(fit, ID(i))
		}
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return 0, refusal.New(syscall.ENOENT, "no type %s is known", name)
	}
	return 0, refusal.New(syscall.EINVAL, "%s is %d types, such as %s and %s; give more of the path", name, len(fit), t.Type(fit[0]).Name, t.Type(fit[1]).Name)
}

// Arg is an argument or a result, with where it is when the function is entered, or has returned.
type Arg struct {
	Param
	Place
}

// Call is what a function takes and gives. Hidden is where a generic function finds the dictionary of
// its type arguments.
type Call struct {
	Addr          uint64
	Name          string
	Args, Results []Arg
	Hidden        *Place
}

// Func returns what the function at an address takes and gives; false: nothing is known of it.
func (t *Table) Func(addr uint64) (Call, bool) {
	i := t.function(addr)
	if i < 0 {
		return Call{}, false
	}
	return t.call(i), true
}

// Declaration returns what Func does, also the dictionary of a generic function, but not where it is. That takes a
// fraction of the time.
func (t *Table) Declaration(addr uint64) (params, results []Param, ok bool) {
	i := t.function(addr)
	if i < 0 {
		return nil, nil, false
	}
	f := &t.info.Funcs[i]
	params = f.Params
	if at := Dictionary(t.names[i]); 0 <= at && at <= len(params) {
		params = slices.Insert(slices.Clone(params), at, dictionary)
	}
	return params, f.Results, true
}

// function returns the index of the function at an address; -1: nothing is known of it. It looks for all of them when BTF
// is written, in a third of the time of slices.BinarySearchFunc.
func (t *Table) function(addr uint64) int {
	list := t.info.Funcs
	low, high := 0, len(list)
	for low < high {
		if at := (low + high) / 2; list[at].Addr < addr {
			low = at + 1
		} else {
			high = at
		}
	}
	if low == len(list) || list[low].Addr != addr {
		return -1
	}
	return low
}

func (t *Table) call(i int) Call {
	f := &t.info.Funcs[i]
	c := Call{Addr: f.Addr, Name: t.names[i]}
	params, at := f.Params, Dictionary(c.Name)
	if at > len(params) {
		at = -1
	}
	if at >= 0 {
		params = slices.Insert(slices.Clone(params), at, Param{Type: ^ID(0)})
	}
	args, res := Assign(t.info.Types, params, f.Results)
	if at >= 0 {
		hidden := args[at]
		c.Hidden, args = &hidden, slices.Delete(args, at, at+1)
	}
	c.Args, c.Results = placed(f.Params, args), placed(f.Results, res)
	return c
}

func placed(params []Param, at []Place) []Arg {
	if len(params) == 0 {
		return nil
	}
	list := make([]Arg, len(params))
	for i, p := range params {
		list[i] = Arg{p, at[i]}
	}
	return list
}

// String says where an argument is: AX, DI SI, or its place on the stack.
func (p Place) String() string {
	if p.OnStack {
		return fmt.Sprintf("stack+%#x", p.Stack)
	}
	var names []string
	for _, r := range p.Regs {
		names = append(names, r.String())
	}
	return strings.Join(names, " ")
}

// String returns the register's name.
func (r Reg) String() string {
	if int(r) < len(goabi.Go) {
		return strings.ToUpper(goabi.PtRegs[goabi.PtReg(goabi.Go[r])/goabi.WordSize])
	}
	return fmt.Sprintf("X%d", r-X0)
}
