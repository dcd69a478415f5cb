package program

import (
	"syscall"

	"sonde/bpf"
	"sonde/bpf/verify"
	"sonde/gotypes"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
)

// A Function is a function of the kernel as Tracing programs see it: its arguments lie one after the other, each
// from a multiple of 8 bytes on, and so does the result after them, when it returns.
type Function struct {
	Name    string
	Addr    uint64
	Returns bool // the program is called when it returns

	args, results []gotypes.Piece // by their offsets in the row
	known         int             // words of arguments
	words         int             // of all
}

// rowMost is how many words a row has at most.
const rowMost = 32

// NewFunction returns what programs see of a function. If a name of Linux's stands for it, they see each word of
// its arguments from Linux's first one on.
//
// Errors: EINVAL what it takes or gives is not in a place that is read, or is too long.
func NewFunction(t *gotypes.Table, c gotypes.Call, linux *kallsyms.LinuxName, returns bool) (*Function, error) {
	f := &Function{Name: c.Name, Addr: c.Addr, Returns: returns}
	pieces, size := t.Row(c.Params())
	if linux != nil {
		f.Name = linux.Name
		pieces, size = inWords(pieces)
		pieces = pieces[min(linux.Skip, len(pieces)):]
		size -= wordSize * linux.Skip
		for i := range pieces {
			pieces[i].Offset -= wordSize * linux.Skip
		}
	}
	f.args, f.known = pieces, size/wordSize
	f.words = f.known
	if returns {
		f.results, size = t.Row(c.Results)
		if linux != nil && len(f.results) > 0 {
			f.results, size = f.results[:1], wordSize
		}
		for i := range f.results {
			f.results[i].Offset += f.known * wordSize
		}
		f.words += size / wordSize
	}
	return f, f.fits()
}

// inWords puts each piece into words of its own.
func inWords(pieces []gotypes.Piece) (list []gotypes.Piece, size int) {
	for _, p := range pieces {
		p.Offset = size
		list = append(list, p)
		size += (p.Size + wordSize - 1) &^ (wordSize - 1)
	}
	return list, size
}

func (f *Function) fits() error {
	for _, list := range [][]gotypes.Piece{f.args, f.results} {
		for _, p := range list {
			if !p.OnStack && p.Reg >= gotypes.X0 {
				return refusal.New(syscall.EINVAL, "%s has a floating-point number in %s, which programs cannot see", f.Name, p.Reg)
			}
		}
	}
	for _, p := range f.results {
		if p.OnStack {
			return refusal.New(syscall.EINVAL, "%s returns a result on the stack, which programs cannot see", f.Name)
		}
	}
	if f.words > rowMost {
		return refusal.New(syscall.EINVAL, "%s takes and gives %d bytes: programs can see %d", f.Name, wordSize*f.words, wordSize*rowMost)
	}
	return nil
}

// context is what the program may load.
func (f *Function) context() *verify.Context {
	c := &verify.Context{Name: bpf.Tracing.String()}
	if f.words > 0 {
		c.Fields = []verify.Field{{Off: 0, Size: wordSize * f.words, Widths: 1 + 2 + 4 + 8}}
	}
	return c
}

// AttachFunction calls a Tracing program when its function is called, or returns. A cookie is what helper 174
// returns.
//
// Errors: those of Attach; EINVAL the program is of another type.
func (p *Prog) AttachFunction(cookie uint64, owner string) (*Link, error) {
	f := p.Function
	if f == nil {
		return nil, refusal.New(syscall.EINVAL, "program %s: a %s program is not for a function", p.Checked.Program.Name, p.Type())
	}
	o := &Options{Options: attach.Options{Owner: owner}, Through: f.through}
	if f.Returns {
		o.Entry, o.Data = f.entered, f.words+1
	}
	return p.Attach([]attach.Site{{Kind: attach.Kernel, Addr: f.Addr, Return: f.Returns, Cookie: cookie}}, o)
}
