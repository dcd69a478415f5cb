package gotypes

import (
	"reflect"
	"slices"
)

// walk codes the whole table. at is, for a writer, where the runtime describes types.
func (f *format) walk(entries []Entry, at []uint32) {
	f.info.Funcs = make([]Func, 0, len(entries))
	f.described(at)
	f.fixed = len(f.info.Types)
	f.functions(entries)
	for id := f.fixed; id < len(f.info.Types) && !f.failed(); id++ {
		f.desc(ID(id))
	}
}

// described codes where the runtime describes types, and has them described.
func (f *format) described(at []uint32) {
	const unit = 8 // descriptions are aligned to it
	last := uint32(0)
	var places []uint32
	for i := range f.length(len(at)) {
		if f.failed() {
			return
		}
		gap := 0
		if i < len(at) {
			gap = int(at[i]-last) / unit
		}
		last += uint32(f.number(gap)) * unit
		places = append(places, last)
	}
	f.fill(places)
}

// fill describes the types at places, which only lead to each other.
func (f *format) fill(places []uint32) {
	ids := make(map[ID]ID, len(places))
	f.info.Types = slices.Grow(f.info.Types, 2*len(places)) // half of all types are described
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
	}
}

// functions codes what functions take and give.
func (f *format) functions(entries []Entry) {
	var funcs []Func
	if f.given != nil {
		funcs = f.given.Funcs
	}
	for _, at := range entries {
		for len(funcs) > 0 && funcs[0].Addr < at.Addr {
			funcs = funcs[1:]
		}
		var fn Func
		is := len(funcs) > 0 && funcs[0].Addr == at.Addr
		if is {
			fn = funcs[0]
		}
		if f.flag(is) {
			f.info.Funcs = append(f.info.Funcs, Func{Addr: at.Addr, Params: f.list(fn.Params), Results: f.list(fn.Results)})
		}
		if f.failed() {
			return
		}
	}
}

// list codes arguments, or results.
func (f *format) list(given []Param) []Param {
	list := f.params
	for ; ; f.count++ {
		k := len(list)
		var p Param
		ok := k < len(given)
		if ok {
			p = given[k]
		}
		if ok || f.reads {
			p.Type, ok = f.ref(p.Type)
		} else {
			f.number(refNone)
		}
		if !ok || f.count > maxParams || f.failed() {
			f.params = list[:0]
			return f.keep(list)
		}
		p.Name = f.text(p.Name)
		list = append(list, p)
	}
}

// keep copies a list to where many lie, since an allocation for each takes longer than all else.
func (f *format) keep(list []Param) []Param {
	if cap(f.kept)-len(f.kept) < len(list) {
		f.kept = make([]Param, 0, max(len(list), 1<<12))
	}
	begin := len(f.kept)
	f.kept = append(f.kept, list...)
	return f.kept[begin:len(f.kept):len(f.kept)]
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
	kind = f.number(kind)
	x.Kind = reflect.Kind(kind &^ named)
	if int(x.Kind) >= len(sizes) && x.Kind != reflect.Struct && x.Kind != reflect.Array {
		f.fail("kind %d", kind)
		return
	}
	if kind&named != 0 {
		x.Name = f.text(x.Name)
	} else {
		x.Name = ""
	}
	f.parts(&x)
	f.info.Types[id] = x
}

// named is a kind's mark: the name of the type does not follow from what it is made of.
const named = 0x80

// parts codes what a type is made of.
func (f *format) parts(x *Desc) {
	switch x.Kind {
	case reflect.Array:
		const low = 30 // bits: some are declared larger than any memory
		high := f.number(x.Len >> low)
		x.Len = high<<low | f.number(x.Len&(1<<low-1))
		fallthrough
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		x.Elem, _ = f.ref(x.Elem)
	case reflect.Map:
		x.Key, _ = f.ref(x.Key)
		x.Elem, _ = f.ref(x.Elem)
	case reflect.Struct:
		fields := make([]Field, 0, min(len(x.Fields), 16))
		for i := range f.length(len(x.Fields)) {
			var field Field
			if i < len(x.Fields) {
				field = x.Fields[i]
			}
			of, _ := f.ref(field.Type)
			fields = append(fields, Field{Name: f.text(field.Name), Type: of})
			if f.failed() {
				return
			}
		}
		x.Fields = fields
	}
}
