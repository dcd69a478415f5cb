package gotypes

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
)

// The columns of a table: what is alike lies together, so that it compresses well.
const (
	colText    = iota // strings, each ended by a zero byte: those used often, then the others
	colKinds          // of types
	colPlaces         // of those that the runtime describes
	colPaths          // of packages in types' names
	colNames          // of types
	colElems          // types in types
	colCounts         // lengths of arrays and structs
	colFields         // names of fields
	colOf             // types of fields
	colGuess          // what is right of what a function's name suggests
	colFirst          // receivers, as lists of one
	colLists          // the lists of arguments
	colResults        // the lists of results
	colLengths        // of lists
	colParams         // names of arguments
	colArgs           // types of arguments
	colVars           // types of variables
	colGaps           // distances between variables
	numCols
)

const magic = "sondeTYP"

// In a kind: the name of the type does not follow from what it is made of, and: the runtime describes it.
const (
	named     = 0x80
	described = 0x40
)

// encoder writes a table. Everything is written twice: first only the uses are counted.
type encoder struct {
	info     *Info
	inside   map[ID]uint32
	counting bool
	cols     [numCols][]byte
	texts    pool[string]
	types    pool[ID]
	lists    pool[string] // of arguments or results, by their bytes
	byKey    map[string][]Param
}

// Encode packs what is known of an image for Load. entries are all its functions, in the order of
// addresses; what m has of types is left out.
//
// Errors: a type is laid out in another way than the compiler is known to do it.
func Encode(info *Info, entries []Entry, m Memory) ([]byte, error) {
	types, err := checkLayout(info.Types)
	if err != nil {
		return nil, err
	}
	info = &Info{types, info.Funcs, info.Vars}
	e := encoder{info: info, inside: inside(info.Types, m), counting: true, byKey: map[string][]Param{}}
	e.functions(entries, e.countList)
	e.lists.number()
	e.all(entries)
	e.texts.number()
	e.types.number()
	e.counting = false
	e.all(entries)
	for _, s := range slices.Concat(e.texts.often, e.texts.once) {
		e.cols[colText] = append(append(e.cols[colText], s...), 0)
	}
	return e.pack()
}

// checkLayout compares how types are laid out with how layOut does it, and returns what that says.
func checkLayout(given []Desc) (types []Desc, err error) {
	types = slices.Clone(given)
	for i := range types {
		types[i].Fields = slices.Clone(types[i].Fields)
	}
	for i, want := range given {
		if !layOut(types, ID(i), 0) {
			return nil, fmt.Errorf("gotypes: %s contains itself", want.Name)
		}
		sized := want.Size > 0 || want.Kind == reflect.Struct || want.Kind == reflect.Array // DWARF leaves others out
		if got := types[i]; sized && got.Size != want.Size || !slices.Equal(got.Fields, want.Fields) {
			return nil, fmt.Errorf("gotypes: %+v is laid out as %+v", want, got)
		}
	}
	return types, nil
}

// pack compresses the columns, behind a header with their lengths.
func (e *encoder) pack() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(magic)
	head := binary.AppendUvarint(nil, uint64(len(e.types.often)))
	head = binary.AppendUvarint(head, uint64(len(e.texts.often)))
	for _, c := range e.cols {
		head = binary.AppendUvarint(head, uint64(len(c)))
	}
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(head))))
	w.Write(head)
	for _, c := range e.cols {
		w.Write(c)
		w.Flush() // each column has its own frequencies
	}
	err = w.Close()
	return b.Bytes(), err
}

// all writes the functions, the variables, and the types that they lead to.
func (e *encoder) all(entries []Entry) {
	e.cols = [numCols][]byte{}
	e.types.once, e.texts.once = nil, nil
	e.number(colLengths, uint64(len(e.lists.often)))
	for _, key := range e.lists.often {
		e.params(e.byKey[key])
	}
	e.functions(entries, e.list)
	end := uint64(0)
	e.number(colGaps, uint64(len(e.info.Vars)))
	for _, v := range e.info.Vars {
		x := &e.info.Types[v.Type]
		e.signed(colGaps, int64(v.Addr-end))
		e.ref(colVars, v.Type)
		end = v.Addr + uint64(x.Size)
	}
	e.reached()
}

// functions writes what functions take and give.
func (e *encoder) functions(entries []Entry, list func(col int, params []Param)) {
	funcs := e.info.Funcs
	g := newGuesser()
	for _, at := range entries {
		for len(funcs) > 0 && funcs[0].Addr < at.Addr {
			funcs = funcs[1:]
		}
		if len(funcs) == 0 || funcs[0].Addr != at.Addr {
			e.number(colGuess, 0)
			continue
		}
		f := funcs[0]
		guess, right := g.guess(at.Name), uint64(known)
		first, rest := receiver(at.Name, f.Params)
		if len(first) > 0 {
			right |= hasFirst
		}
		if len(first) > 0 && first[0] == guess.first {
			right |= rightFirst
		}
		if guess.hasRest && slices.Equal(rest, guess.rest) {
			right |= rightRest
		}
		if guess.hasRest && slices.Equal(f.Results, guess.results) {
			right |= rightResults
		}
		e.number(colGuess, right)
		if len(first) > 0 && right&rightFirst == 0 {
			list(colFirst, first)
		}
		if right&rightRest == 0 {
			list(colLists, rest)
		}
		if right&rightResults == 0 {
			list(colResults, f.Results)
		}
		g.learn(at.Name, first, rest, f.Results)
		funcs = funcs[1:]
	}
}

func (e *encoder) countList(_ int, params []Param) {
	key := fmt.Sprint(params)
	e.byKey[key] = params
	e.lists.use(key)
}

func (e *encoder) list(col int, params []Param) {
	r := e.lists.ref(fmt.Sprint(params))
	e.number(col, r)
	if r == 0 {
		e.params(params)
	}
}

func (e *encoder) params(params []Param) {
	e.number(colLengths, uint64(len(params)))
	for _, p := range params {
		e.text(colParams, p.Name)
		e.ref(colArgs, p.Type)
	}
}

// reached writes the types, those used often first.
func (e *encoder) reached() {
	if e.counting {
		seen := map[ID]bool{}
		for todo := e.types.once; len(todo) > 0; todo = e.types.once {
			e.types.once = nil
			for _, id := range todo {
				if !seen[id] {
					seen[id] = true
					e.desc(id)
				}
			}
		}
		return
	}
	for _, id := range e.types.often {
		e.desc(id)
	}
	for i := 0; i < len(e.types.once); i++ {
		e.desc(e.types.once[i])
	}
}

func (e *encoder) desc(id ID) {
	if off, ok := e.inside[id]; ok {
		e.number(colKinds, described)
		e.number(colPlaces, uint64(off))
		return
	}
	x := &e.info.Types[id]
	kind := uint64(x.Kind)
	if x.Name != "" && x.Name != derived(e.info.Types, x) {
		kind |= named
		path, name := split(x.Name)
		e.text(colPaths, path)
		e.text(colNames, name)
	}
	e.number(colKinds, kind)
	switch x.Kind {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		e.ref(colElems, x.Elem)
	case reflect.Map:
		e.ref(colElems, x.Key)
		e.ref(colElems, x.Elem)
	case reflect.Array:
		e.ref(colElems, x.Elem)
		e.number(colCounts, uint64(x.Len))
	case reflect.Struct:
		e.number(colCounts, uint64(len(x.Fields)))
		for _, f := range x.Fields {
			e.text(colFields, f.Name)
			e.ref(colOf, f.Type)
		}
	}
}

func (e *encoder) number(col int, v uint64) { e.cols[col] = binary.AppendUvarint(e.cols[col], v) }
func (e *encoder) signed(col int, v int64)  { e.cols[col] = binary.AppendVarint(e.cols[col], v) }

func (e *encoder) text(col int, s string) {
	if e.counting {
		e.texts.use(s)
		return
	}
	e.number(col, e.texts.ref(s))
}

func (e *encoder) ref(col int, id ID) {
	if e.counting {
		e.types.use(id)
		e.types.once = append(e.types.once, id)
		return
	}
	e.number(col, e.types.ref(id))
}
