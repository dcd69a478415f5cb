package tracefs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sonde/arch/amd64/goabi"
	"sonde/kallsyms"
)

// An arg is something that a probe records: NAME=FETCH[:TYPE].
type arg struct {
	name, text string // text as it was given, without the name
	fetch      *fetch
	typ        typ
	count      int // elements of an array; 0: it is none
	offset     int // in the record
	at, room   int // of a text: where it is in the record, and how many bytes it can have
}

// A typ is how an argument is recorded and printed.
type typ struct {
	base  byte // u, s, x, c, p
	name  string
	size  int // of an element in the record; of a text, of what says where that is
	text  bool
	user  bool // the text is a program's
	shift uint // of bits: the lowest, and how many
	width uint
}

// A fetch is how a value is found.
type fetch struct {
	kind   fetchKind
	number int64  // an offset, an index, an address or the value
	text   string // of fetchText
	of     *fetch // of fetchMemory: where the address is from
	user   bool   // of fetchMemory: it is a program's
	field  *field // of fetchField
}

type fetchKind uint8

const (
	fetchReg    fetchKind = iota // number is its place in struct pt_regs
	fetchStack                   // the address of the stack
	fetchComm                    // the name of what runs
	fetchNumber                  // number
	fetchText                    // text
	fetchMemory                  // what is at of+number
	fetchWord                    // the same, of the stack: it is a number, and no address of a text
	fetchField                   // of the record of the event that the probe is attached to
)

// mostNested is how many dereferences an argument can have.
const mostNested = 13

// argument reads one, the i-th.
func (p *probe) argument(w word, i int) (*arg, error) {
	a := &arg{name: fmt.Sprintf("arg%d", i+1), text: w.text}
	body := w
	if name, rest, ok := strings.Cut(w.text, "="); ok {
		if err := fine(w.at, "Argument", name, longestArg); err != nil {
			return nil, err
		}
		a.name, a.text = name, rest
		body = word{rest, w.at + len(name) + 1}
	} else if p.kind == 'e' && strings.HasPrefix(w.text, "$") && isName(w.text[1:]) {
		a.name = w.text[1:]
	}
	if body.text == "" {
		return nil, wrong(body.at, "No argument expression")
	}
	if len(body.text) > 63 {
		return nil, wrong(body.at, "Argument expression is too long")
	}
	expr, typeAt := body.text, -1
	if i := typeColon(body.text); i >= 0 {
		expr, typeAt = body.text[:i], i+1
	}
	f, err := p.fetch(word{expr, body.at}, 0, w.at)
	if err != nil {
		return nil, err
	}
	a.fetch, a.typ = f, typ{base: 'x', name: "u64", size: 8}
	if f.kind == fetchComm || f.kind == fetchText {
		a.typ = typ{name: "string", size: 4, text: true}
	}
	if f.kind == fetchField && f.field.text {
		a.typ = typ{name: "string", size: 4, text: true}
	}
	if typeAt < 0 {
		return a, nil
	}
	return a, a.typed(word{body.text[typeAt:], body.at + typeAt})
}

// typeColon is where the colon before the type is; -1: there is none. One in a text in quotes is none.
func typeColon(text string) int {
	if strings.HasPrefix(text, `\"`) {
		if end := strings.IndexByte(text[2:], '"'); end >= 0 {
			if i := strings.IndexByte(text[2+end:], ':'); i >= 0 {
				return 2 + end + i
			}
		}
		return -1
	}
	return strings.IndexByte(text, ':')
}

// typed reads TYPE[N].
func (a *arg) typed(w word) error {
	name := w.text
	if i := strings.IndexByte(name, '['); i >= 0 {
		j := strings.IndexByte(name, ']')
		switch {
		case j < 0:
			return wrong(w.at+len(name), "Array is not closed")
		case name[j+1:] != "":
			return wrong(w.at+j+1, "Array has wrong suffix")
		}
		n, err := strconv.ParseUint(name[i+1:j], 0, 32)
		switch {
		case err != nil || n == 0:
			return wrong(w.at+i+1, "Invalid array size")
		case n > 64:
			return wrong(w.at+i+1, "Array number is too big")
		}
		a.count, name = int(n), name[:i]
	}
	memory := a.fetch.kind == fetchMemory
	switch t, ok := types[name]; {
	case name == "string" || name == "ustring":
		if !memory && a.fetch.kind != fetchComm && a.fetch.kind != fetchText && !(a.fetch.kind == fetchField && a.fetch.field.text) {
			return wrong(w.at, "String accepts only memory argument")
		}
		a.typ = typ{name: name, size: 4, text: true, user: name == "ustring"}
	case a.fetch.kind == fetchComm || a.fetch.kind == fetchText:
		return wrong(w.at, "$comm and immediate-string only accepts string type")
	case ok:
		a.typ = t
		a.typ.name = name
	case strings.HasPrefix(name, "b") && strings.Contains(name, "@"):
		return a.bits(word{name, w.at})
	default:
		return wrong(w.at, "Unknown type is specified")
	}
	if a.count > 0 && !memory {
		return wrong(w.at, "String accepts only memory argument")
	}
	return nil
}

var types = func() map[string]typ {
	all := map[string]typ{"char": {base: 'c', size: 1}, "symbol": {base: 'p', size: 8}}
	for _, base := range "usx" {
		for size := 1; size <= 8; size *= 2 {
			all[fmt.Sprintf("%c%d", base, 8*size)] = typ{base: byte(base), size: size}
		}
	}
	return all
}()

// bits reads b<width>@<offset>/<container>.
func (a *arg) bits(w word) error {
	var width, offset, size uint
	if n, _ := fmt.Sscanf(w.text, "b%d@%d/%d", &width, &offset, &size); n != 3 || w.text != fmt.Sprintf("b%d@%d/%d", width, offset, size) {
		return wrong(w.at, "Invalid bitfield")
	}
	if !slices.Contains([]uint{8, 16, 32, 64}, size) {
		return wrong(w.at, "Unknown type is specified")
	}
	if width == 0 || width+offset > size {
		return wrong(w.at, "Invalid bitfield")
	}
	a.typ = typ{base: 'u', name: w.text, size: int(size / 8), shift: offset, width: width}
	return nil
}

// fetch reads how a value is found, deep dereferences inside; whole is where the argument begins.
func (p *probe) fetch(w word, deep, whole int) (*fetch, error) {
	switch {
	case w.text == "":
		return nil, wrong(w.at, "Invalid fetch argument")
	case w.text[0] == '$':
		return p.variable(w, deep, whole)
	case w.text[0] == '%':
		return p.register(w)
	case w.text[0] == '@':
		return p.at(w)
	case w.text[0] == '+' || w.text[0] == '-':
		return p.dereference(w, deep, whole)
	case w.text[0] == '\\':
		return p.immediate(w)
	}
	return nil, wrong(w.at, "Invalid fetch argument")
}

func (p *probe) variable(w word, deep, whole int) (*fetch, error) {
	name := w.text[1:]
	if name == "comm" || name == "COMM" {
		if deep > 0 {
			return nil, wrong(w.at, "$comm can not be dereferenced")
		}
		return &fetch{kind: fetchComm}, nil
	}
	if p.kind == 'e' {
		for i := range p.attached.fields {
			if f := &p.attached.fields[i]; f.Name == name {
				return &fetch{kind: fetchField, field: f}, nil
			}
		}
		return nil, wrong(whole, "Attached event does not have this field")
	}
	number := func(prefix string, from, most uint64, why string) (uint64, error) {
		n, err := strconv.ParseUint(name[len(prefix):], 10, 64)
		if err != nil || n < from || n > most {
			return 0, wrong(w.at, why)
		}
		return n, nil
	}
	switch {
	case name == "retval":
		if p.kind != 'r' {
			return nil, wrong(w.at, "$retval is not available on probe")
		}
		return &fetch{number: goabi.PtRegsAX}, nil
	case name == "stack":
		return &fetch{kind: fetchStack}, nil
	case strings.HasPrefix(name, "stack") && unicode.IsDigit(rune(name[5])):
		n, err := number("stack", 0, 1023, "Invalid stack number")
		if err != nil {
			return nil, err
		}
		return &fetch{kind: fetchWord, of: &fetch{kind: fetchStack}, number: int64(8 * n), user: p.user}, nil
	case strings.HasPrefix(name, "arg") && len(name) > 3 && !p.user && p.kind == 'p':
		n, err := number("arg", 1, 128, "Invalid argument number")
		if err != nil {
			return nil, err
		}
		return p.parameter(w, int(n))
	}
	return nil, wrong(w.at, "Invalid $-valiable specified")
}

// parameter is the n-th word that a function is called with, from 1: of Linux's names, as Linux has them there.
func (p *probe) parameter(w word, n int) (*fetch, error) {
	regs := goabi.Go.PtRegs()
	if _, ok := kallsyms.Linux(p.site.Symbol); ok {
		regs = goabi.SystemV.PtRegs()
	}
	if n > len(regs) {
		return nil, wrong(w.at, "Invalid argument number")
	}
	return &fetch{number: int64(regs[n-1])}, nil
}

func (p *probe) register(w word) (*fetch, error) {
	if i := slices.Index(goabi.PtRegs[:], w.text[1:]); i >= 0 && p.kind != 'e' {
		return &fetch{number: int64(i * goabi.WordSize)}, nil
	}
	return nil, wrong(w.at, "Invalid register name")
}

// at reads @ADDR, @SYM[+-OFFSET], and refuses @+OFFSET, which is of a program's file.
func (p *probe) at(w word) (*fetch, error) {
	text := w.text[1:]
	switch {
	case text == "":
		return nil, wrong(w.at, "Invalid memory address")
	case unicode.IsDigit(rune(text[0])):
		addr, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return nil, wrong(w.at, "Invalid memory address")
		}
		return &fetch{kind: fetchMemory, of: &fetch{kind: fetchNumber, number: int64(addr)}, user: p.user}, nil
	case text[0] == '+' && !p.user:
		return nil, wrong(w.at, "File offset is not available with kprobe")
	case text[0] == '+':
		return nil, wrong(w.at, "Invalid file offset value")
	case p.user:
		return nil, wrong(w.at, "Symbol is not available with uprobe")
	}
	name, off := text, int64(0)
	if i := strings.LastIndexAny(text, "+-"); i > 0 {
		n, err := strconv.ParseInt(text[i:], 0, 64)
		if err != nil {
			return nil, wrong(w.at, "Invalid memory address")
		}
		name, off = text[:i], n
	}
	symbol, err := kallsyms.Kernel().Resolve(name)
	if err != nil {
		return nil, wrong(w.at, "Invalid memory address")
	}
	return &fetch{kind: fetchMemory, of: &fetch{kind: fetchNumber, number: int64(symbol.Addr)}, number: off}, nil
}

// dereference reads +-[u]OFFSET(FETCH).
func (p *probe) dereference(w word, deep, whole int) (*fetch, error) {
	text, at := w.text, w.at
	user := strings.HasPrefix(text[1:], "u")
	digits := text[1:]
	if user {
		digits = text[2:]
	}
	open := strings.IndexByte(digits, '(')
	if open < 0 {
		return nil, wrong(at, "Dereference needs a brace")
	}
	off, err := strconv.ParseInt(digits[:open], 0, 64)
	if err != nil || off < 0 || off > math.MaxInt32 {
		return nil, wrong(at, "Invalid dereference offset")
	}
	if text[0] == '-' {
		off = -off
	}
	if deep >= mostNested {
		return nil, wrong(whole+3, "Dereference is too much nested")
	}
	innerAt := at + len(text) - len(digits) + open + 1
	end := strings.LastIndexByte(digits, ')')
	if end < 0 {
		return nil, wrong(at+len(text), "Dereference brace is not closed")
	}
	if digits[end+1:] != "" {
		return nil, wrong(innerAt-open-1+end+1, "Invalid fetch argument")
	}
	in, err := p.fetch(word{digits[open+1 : end], innerAt}, deep+1, whole)
	if err != nil {
		return nil, err
	}
	if in.kind == fetchText {
		return nil, wrong(innerAt, "$comm can not be dereferenced")
	}
	return &fetch{kind: fetchMemory, of: in, number: off, user: user || p.user}, nil
}

// immediate reads \NUMBER or \"TEXT".
func (p *probe) immediate(w word) (*fetch, error) {
	text := w.text[1:]
	if strings.HasPrefix(text, `"`) {
		if len(text) < 2 || !strings.HasSuffix(text, `"`) {
			return nil, wrong(w.at+len(w.text), "String is not closed with '\"'")
		}
		return &fetch{kind: fetchText, text: text[1 : len(text)-1]}, nil
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if u, uerr := strconv.ParseUint(text, 0, 64); err != nil && uerr == nil {
		n, err = int64(u), nil
	}
	if err != nil {
		return nil, wrong(w.at+1, "Invalid immediate value")
	}
	return &fetch{kind: fetchNumber, number: n}, nil
}
