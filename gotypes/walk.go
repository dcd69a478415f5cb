package gotypes

import (
	"reflect"
	"slices"
	"strings"

	"sonde/gotypes/squeeze"
)

// walk codes the whole table. at is, for a writer, where the runtime describes types.
func (f *format) walk(entries []Entry, at []uint32) {
	f.described(at)
	f.fixed = len(f.info.Types)
	f.functions(entries)
	f.variables()
	for id := f.fixed; id < len(f.info.Types) && !f.failed(); id++ {
		f.desc(ID(id))
	}
}

// described codes where the runtime describes types, and has them described.
func (f *format) described(at []uint32) {
	const unit = 8 // descriptions are aligned to it
	last, before, kind := uint32(0), uint32(0), uint32(0)
	var places []uint32
	for i := range f.length(len(at)) {
		if f.failed() {
			return
		}
		gap := 0
		if i < len(at) {
			gap = int(at[i]-last) / unit
		}
		gap = f.number(gap, colPlaces, last/unit%4, kind, squeeze.Hash(kind, before))
		before, last = uint32(gap), last+uint32(gap)*unit
		x, _ := f.m.describe(last)
		kind = uint32(x.Kind)
		places = append(places, last)
	}
	f.fill(places)
}

// fill describes the types at places, which only lead to each other.
func (f *format) fill(places []uint32) {
	ids := map[ID]ID{}
	for _, at := range places {
		ids[ID(at)] = f.add()
	}
	for i, at := range places {
		x, ok := f.m.describe(at)
		if !ok || len(ids) < len(places) {
			f.fail("no type is at %#x", at)
			return
		}
		x.eachPart(func(part *ID) {
			id, is := ids[*part]
			if *part = id; !is {
				f.fail("the type at %#x leads outside", at)
			}
		})
		f.info.Types[i+1] = x
		f.learnNames(&x)
	}
	for id := 1; id < len(f.info.Types); id++ {
		f.named[nameOf(f.info.Types, ID(id), 0)] = ID(id)
	}
}

// learnNames learns the names that a type of the runtime's has: of its package, of its own and of its fields, and as
// arguments are called, which often have them.
func (f *format) learnNames(x *Desc) {
	path, name := split(x.Name)
	f.learn(path)
	f.learn(name)
	for _, field := range x.Fields {
		f.learn(field.Name)
		f.learn(lower(field.Name))
	}
}

// lower returns a name with a small first letter.
func lower(name string) string {
	n := min(1, len(name))
	return strings.ToLower(name[:n]) + name[n:]
}

// functions codes what functions take and give.
func (f *format) functions(entries []Entry) {
	var funcs []Func
	if f.given != nil {
		funcs = f.given.Funcs
	}
	last := uint32(0)
	for _, at := range entries {
		for len(funcs) > 0 && funcs[0].Addr < at.Addr {
			funcs = funcs[1:]
		}
		var fn Func
		is := len(funcs) > 0 && funcs[0].Addr == at.Addr
		if is {
			fn = funcs[0]
		}
		n := namesOf(at.Name)
		is = f.flag(is, colHas, last, n.class, n.pkg)
		if last = 0; is {
			last = 1
			f.info.Funcs = append(f.info.Funcs, f.function(fn, at, n))
		}
		if f.failed() {
			return
		}
	}
}

func (f *format) function(fn Func, at Entry, n names) Func {
	args, h := f.list(fn.Params, n, colArg, 1)
	results, _ := f.list(fn.Results, n, colResult, h)
	return Func{Addr: at.Addr, Params: args, Results: results}
}

// list codes arguments, or results. Its second result, and before, tell what has come before.
func (f *format) list(given []Param, n names, column int, before uint32) (_ []Param, h uint32) {
	list, hash := f.params[:0], squeeze.Hash
	of, name := uint32(0), uint32(0) // of the last one
	h = before
	for ; ; f.count++ {
		k := uint32(len(list))
		var p Param
		ok := int(k) < len(given)
		if ok {
			p = given[k]
		}
		switch receiver := f.named[n.receiver]; {
		case column == colArg && k == 0 && receiver != 0 && f.flag(ok && f.ids[p.Type] == receiver, colReceiver, n.method):
			p.Type, ok = receiver, true
		default:
			contexts := [...]uint32{hash(k, n.word, of), hash(k, n.pkg, of), h, hash(h, n.method), hash(h, n.of)}
			if ok || f.Reads() {
				p.Type, ok = f.ref(p.Type, column, contexts[:]...)
			} else {
				f.end(column, contexts[:]...)
			}
		}
		if !ok || f.count > maxParams || f.failed() {
			f.params = list
			return slices.Clone(list), h
		}
		of = uint32(p.Type)
		p.Name, name = f.text(p.Name, column+1, of, hash(of, name), hash(k, name), hash(n.method, of), hash(n.pkg, of), hash(h, of))
		h = hash(h, of, name)
		list = append(list, p)
	}
}

// variables codes the types of variables, whose addresses are still distances from the one before.
func (f *format) variables() {
	n := 0
	if f.given != nil {
		n = len(f.given.Vars)
	}
	last, end := ID(0), f.m.Base
	for i := range f.length(n) {
		var v Var
		if f.given != nil {
			v = f.given.Vars[i]
		}
		gap := int64(v.Addr - end)
		last, _ = f.ref(v.Type, colVar, uint32(last))
		zigzag := f.number(int(gap<<1^gap>>63), colGap, uint32(last))
		gap = int64(zigzag>>1) ^ -int64(zigzag&1)
		if f.given != nil {
			end = v.Addr + uint64(f.given.Types[v.Type].Size)
		}
		f.info.Vars = append(f.info.Vars, Var{Addr: uint64(gap), Type: last})
		if f.failed() {
			return
		}
	}
}

// desc codes a type that the runtime does not describe.
func (f *format) desc(id ID) {
	var x Desc
	if f.given != nil {
		x = f.given.Types[f.queue[int(id)-f.fixed]]
	}
	kind := int(x.Kind)
	if f.given != nil && x.Name != "" && x.Name != derived(f.given.Types, &x) {
		kind |= named
	}
	kind = f.number(kind, colKind, uint32(f.info.Types[id-1].Kind))
	x.Kind = reflect.Kind(kind &^ named)
	if int(x.Kind) >= len(sizes) && x.Kind != reflect.Struct && x.Kind != reflect.Array {
		f.fail("kind %d", kind)
		return
	}
	path, name := split(x.Name)
	if x.Name = ""; kind&named != 0 {
		var of uint32
		path, of = f.text(path, colPath)
		name, _ = f.text(name, colName, of)
		if x.Name = name; path != "" {
			x.Name = path + "." + name
		}
	}
	f.parts(&x)
	f.info.Types[id] = x
}

// named is a kind's mark: the name of the type does not follow from what it is made of.
const named = 0x80

// parts codes what a type is made of.
func (f *format) parts(x *Desc) {
	kind := uint32(x.Kind)
	switch x.Kind {
	case reflect.Array:
		const low = 30 // bits: some are declared larger than any memory
		high := f.number(x.Len>>low, colCount)
		x.Len = high<<low | f.number(x.Len&(1<<low-1), colCount, kind)
		fallthrough
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		x.Elem, _ = f.ref(x.Elem, colElem, kind)
	case reflect.Map:
		x.Key, _ = f.ref(x.Key, colElem, kind)
		x.Elem, _ = f.ref(x.Elem, colElem, kind, uint32(x.Key))
	case reflect.Struct:
		fields := make([]Field, 0, min(len(x.Fields), 16))
		of, name := ID(0), uint32(0)
		for i := range f.length(len(x.Fields)) {
			var field Field
			if i < len(x.Fields) {
				field = x.Fields[i]
			}
			hash := squeeze.Hash
			of, _ = f.ref(field.Type, colField, uint32(of), name, hash(uint32(of), name))
			field.Name, name = f.text(field.Name, colFieldName, uint32(of), name, hash(uint32(of), name))
			fields = append(fields, Field{Name: field.Name, Type: of})
			if f.failed() {
				return
			}
		}
		x.Fields = fields
	}
}
