package gotypes

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// ErrFormat says that a blob is no table of this version, or is damaged.
var ErrFormat = refusal.New(syscall.EINVAL, "not a table of Go types")

// Limits of what is read: far beyond those of any kernel, so that a damaged table takes no memory.
const (
	maxTable  = 4 << 20 // bytes, unpacked
	maxTypes  = 1 << 17
	maxParams = 1 << 20 // of all functions together
)

// decoder reads a table. The first thing that is wrong is kept, and the reading goes on to its end.
type decoder struct {
	cols  [numCols][]byte
	info  Info
	m     Memory
	known map[uint32]ID // by where they are described
	todo  []place
	texts dictionary
	lists [][]Param
	next  ID // the next type that is used only once
	read  int
	err   error
}

// dictionary has the strings that are used often, and behind them the others.
type dictionary struct {
	all  []string
	next int // the next that is used once
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("gotypes: "+format+": %w", append(args, ErrFormat)...)
	}
}

// decode unpacks what Encode has packed.
func decode(blob []byte, entries []Entry, m Memory) (*Info, error) {
	d := decoder{m: m, known: map[uint32]ID{}}
	d.unpack(blob)
	for n := d.number(colLengths); n > 0 && d.err == nil; n-- {
		d.lists = append(d.lists, d.params())
	}
	d.functions(entries)
	d.variables()
	for id := ID(1); id < d.next && d.err == nil; id++ {
		d.desc(id)
	}
	d.described()
	if d.err == nil {
		d.layOut()
	}
	return &d.info, d.err
}

// unpack splits the columns, and makes room for the types.
func (d *decoder) unpack(blob []byte) {
	rest, ok := bytes.CutPrefix(blob, []byte(magic))
	if !ok {
		d.fail("no magic")
		return
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(rest)), maxTable))
	if err != nil || len(data) < 4 {
		d.fail("%v", err)
		return
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		d.fail("the header has %d bytes", n)
		return
	}
	head, data := data[4:4+n], data[4+n:]
	word := func() int {
		v, k := binary.Uvarint(head)
		if k <= 0 || v > maxTable {
			d.fail("the header is cut off")
			return 0
		}
		head = head[k:]
		return int(v)
	}
	types, texts := word(), word()
	for i := range d.cols {
		n := word()
		if n > len(data) {
			d.fail("column %d has %d bytes", i, n)
			return
		}
		d.cols[i], data = data[:n:n], data[n:]
	}
	d.texts = dictionary{strings.Split(string(d.cols[colText]), "\x00"), texts}
	if types > maxTypes {
		d.fail("%d types", types)
		return
	}
	d.next = ID(types) + 1
	d.info.Types = make([]Desc, d.next)
}

func (d *decoder) number(col int) int {
	v, n := binary.Uvarint(d.cols[col])
	if n <= 0 || v > maxSize {
		d.fail("column %d is cut off", col)
		return 0
	}
	d.cols[col] = d.cols[col][n:]
	return int(v)
}

func (d *decoder) text(col int) string {
	i := d.number(col) - 1
	if i < 0 {
		i = d.texts.next
		d.texts.next++
	}
	if i >= len(d.texts.all) {
		d.fail("string %d", i)
		return ""
	}
	return d.texts.all[i]
}

func (d *decoder) ref(col int) ID {
	id := ID(d.number(col))
	if id == 0 {
		id = d.next
		d.next++
		d.info.Types = append(d.info.Types, Desc{})
	}
	if id >= d.next || d.next > maxTypes {
		d.fail("type %d of %d", id, d.next)
		return 0
	}
	return id
}

func (d *decoder) functions(entries []Entry) {
	g := newGuesser()
	for _, at := range entries {
		right := d.number(colGuess)
		if right&known == 0 || d.err != nil {
			continue
		}
		guess := g.guess(at.Name)
		var first []Param
		rest, results := guess.rest, guess.results
		switch {
		case right&rightFirst != 0:
			first = []Param{guess.first}
		case right&hasFirst != 0:
			first = d.list(colFirst)
		}
		if right&rightRest == 0 {
			rest = d.list(colLists)
		}
		if right&rightResults == 0 {
			results = d.list(colResults)
		}
		g.learn(at.Name, first, rest, results)
		f := Func{Addr: at.Addr, Params: append(first[:len(first):len(first)], rest...), Results: results}
		d.info.Funcs = append(d.info.Funcs, f)
	}
}

func (d *decoder) list(col int) []Param {
	i := d.number(col)
	if i == 0 {
		return d.params()
	}
	if i > len(d.lists) {
		d.fail("list %d of %d", i, len(d.lists))
		return nil
	}
	return d.lists[i-1]
}

func (d *decoder) params() (list []Param) {
	n := d.number(colLengths)
	if d.read += n; n > len(d.cols[colParams]) || d.read > maxParams {
		d.fail("%d arguments", n)
		return nil
	}
	for range n {
		list = append(list, Param{d.text(colParams), d.ref(colArgs)})
	}
	return list
}

func (d *decoder) variables() {
	n := d.number(colGaps)
	if n > len(d.cols[colGaps]) {
		d.fail("%d variables", n)
		return
	}
	for range n {
		gap, k := binary.Varint(d.cols[colGaps])
		if k <= 0 {
			d.fail("column %d is cut off", colGaps)
			return
		}
		d.cols[colGaps] = d.cols[colGaps][k:]
		d.info.Vars = append(d.info.Vars, Var{Addr: uint64(gap), Type: d.ref(colVars)})
	}
}

// desc reads one type.
func (d *decoder) desc(id ID) {
	kind := d.number(colKinds)
	if kind == described {
		off := d.number(colPlaces)
		d.todo = append(d.todo, place{id, uint32(off)})
		d.known[uint32(off)] = id
		return
	}
	x := Desc{Kind: reflect.Kind(kind &^ named)}
	if kind&named != 0 {
		path := d.text(colPaths)
		if x.Name = d.text(colNames); path != "" {
			x.Name = path + "." + x.Name
		}
	}
	if kind &^= named; kind >= len(sizes) && x.Kind != reflect.Struct && x.Kind != reflect.Array {
		d.fail("kind %d", kind)
		return
	}
	switch x.Kind {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		x.Elem = d.ref(colElems)
	case reflect.Map:
		x.Key, x.Elem = d.ref(colElems), d.ref(colElems)
	case reflect.Array:
		x.Elem = d.ref(colElems)
		x.Len = d.number(colCounts)
	case reflect.Struct:
		n := d.number(colCounts)
		if n > len(d.cols[colFields]) {
			d.fail("%d fields", n)
			return
		}
		for range n {
			x.Fields = append(x.Fields, Field{Name: d.text(colFields), Type: d.ref(colOf)})
		}
	}
	d.info.Types[id] = x
}

// place is where the runtime describes a type.
type place struct {
	id  ID
	off uint32
}

// described reads the types that the runtime describes, and those that they lead to.
func (d *decoder) described() {
	id := func(off ID) ID {
		id, ok := d.known[uint32(off)]
		if !ok && d.next < maxTypes {
			id = d.next
			d.next++
			d.known[uint32(off)] = id
			d.info.Types = append(d.info.Types, Desc{})
			d.todo = append(d.todo, place{id, uint32(off)})
		}
		return id
	}
	for i := 0; i < len(d.todo) && d.err == nil; i++ {
		at := d.todo[i]
		x, ok := d.m.describe(at.off)
		if !ok {
			d.fail("no type is at %#x", at.off)
		}
		x.eachPart(func(part *ID) { *part = id(*part) })
		d.info.Types[at.id] = x
	}
}

// layOut computes sizes and offsets, names that follow, and the addresses of variables.
func (d *decoder) layOut() {
	types := d.info.Types
	for id := range types {
		if !layOut(types, ID(id), 0) {
			d.fail("type %d contains itself, or is too large", id)
			return
		}
	}
	for id := range types {
		nameOf(types, ID(id), 0)
	}
	end := uint64(0)
	for i := range d.info.Vars {
		v := &d.info.Vars[i]
		v.Addr += end
		end = v.Addr + uint64(types[v.Type].Size)
	}
}
