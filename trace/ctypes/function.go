package ctypes

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sonde/kallsyms"
	"sonde/trace/lang"
)

// Function returns the parameters of a function. regs are where its first arguments are in struct pt_regs.
//
// Errors: nothing is known of it.
func (f *File) Function(name string, regs []int) (all []lang.ArgField, err error) {
	at, ok := f.functions[name]
	switch {
	case changed(name):
		return nil, fmt.Errorf("the compiler has changed the arguments of %s, and does not say how", name)
	case !ok:
		return nil, f.none("function %s", name)
	}
	p := places{regs: regs}
	f.children(at, func(e *dwarf.Entry) {
		if e.Tag != dwarf.TagFormalParameter {
			return
		}
		if from, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
			if e = f.entry(from); e == nil {
				return
			}
		}
		a := lang.ArgField{Name: text(e, dwarf.AttrName), Type: f.of(e, 0)}
		if t, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
			a.Text = f.spell(t, 0)
		}
		if p.take(&a) && a.Name != "" {
			all = append(all, a)
		}
	})
	return all, nil
}

// places gives arguments their places.
//
// Source: System V ABI, AMD64 supplement, §3.2.3.
type places struct {
	regs  []int
	stack int // bytes that arguments have there
}

// take gives an argument its place; false: it is where scripts cannot read.
func (p *places) take(a *lang.ArgField) bool {
	words := (a.Type.Bytes + 7) / 8
	whole := inMemory
	if words <= 2 {
		whole = 0
		for i := range words {
			whole |= class(a.Type, 0, 8*i, 0)
		}
	}
	need := 0
	for i := range words {
		if class(a.Type, 0, 8*i, 0)&inInteger != 0 {
			need++
		}
	}
	switch {
	case whole&inMemory != 0 || whole&inInteger != 0 && need > len(p.regs):
		a.Stack, a.Offset = true, 8+p.stack // after the return address
		p.stack += 8 * words
		return a.Type.Kind != lang.Void
	case need == 0:
		return false // in XMM registers
	}
	a.Offset, a.More = p.regs[0], p.regs[1:need]
	p.regs = p.regs[need:]
	return need == words
}

const (
	inInteger = 1 << iota
	inVector
	inMemory
)

// class is where the word that is `word` bytes after the beginning of an argument is passed, by what of a
// type is in it.
func class(t lang.Type, at, word, depth int) int {
	if at >= word+8 || at+max(1, t.Bytes) <= word || depth > maxDepth {
		return 0
	}
	switch t.Kind {
	case lang.Void:
		if t.Bytes > 8 {
			return inMemory // long double
		}
		return inVector
	case lang.StructOf:
		all := 0
		for _, m := range t.To.All() {
			all |= class(m.Type, at+m.Offset, word, depth+1)
		}
		return all
	case lang.ArrayOf:
		all, each := 0, t.Elem.Bytes
		for i := max(0, word-at) / max(1, each) * each; each > 0 && i < t.Bytes && at+i < word+8; i += each {
			all |= class(*t.Elem, at+i, word, depth+1)
		}
		return all
	}
	return inInteger
}

// spell writes a type as C does.
func (f *File) spell(at dwarf.Offset, depth int) string {
	e := f.entry(at)
	if e == nil || depth > maxDepth {
		return "?"
	}
	name, inner := text(e, dwarf.AttrName), "void"
	if to, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok && e.Tag != dwarf.TagEnumerationType && e.Tag != dwarf.TagTypedef {
		inner = f.spell(to, depth+1)
	}
	switch e.Tag {
	case dwarf.TagPointerType:
		return inner + "*"
	case dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		return inner + "&"
	case dwarf.TagConstType:
		return "const " + inner
	case dwarf.TagVolatileType:
		return "volatile " + inner
	case dwarf.TagRestrictType, dwarf.TagAtomicType:
		return inner
	case dwarf.TagArrayType:
		return inner + "[]"
	case dwarf.TagSubroutineType:
		return inner + " ()"
	case dwarf.TagStructType, dwarf.TagClassType:
		return "struct " + name
	case dwarf.TagUnionType:
		return "union " + name
	case dwarf.TagEnumerationType:
		return "enum " + name
	}
	return name
}

// Line returns where the code of a line begins: how far after which function. file is a path, or its end.
//
// Errors: there is no code of that line.
func (f *File) Line(file string, line int) (function string, off uint64, err error) {
	var lines []int
	files := map[string]bool{}
	f.rows = 0
	for _, unit := range f.units {
		addr, ok := f.lineIn(unit, file, line, &lines, files)
		if !ok {
			continue
		}
		for _, c := range f.code {
			if addr >= c.low && addr < c.end {
				return c.name, addr - c.low, nil
			}
		}
	}
	if f.split != "" {
		return "", 0, f.none("function with %s:%d", file, line)
	}
	if len(lines) == 0 {
		near := kallsyms.Nearest(file, slices.Collect(maps.Keys(files)))
		return "", 0, &lang.Hinted{Why: "no code in it is from a file " + file, Hint: kallsyms.DidYouMean(near)}
	}
	near := slices.MinFunc(lines, func(a, b int) int { return cmp.Compare(abs(a-line), abs(b-line)) })
	return "", 0, &lang.Hinted{Why: fmt.Sprintf("%s:%d has no code", file, line), Hint: fmt.Sprintf("line %d has", near)}
}

func abs(n int) int { return max(n, -n) }

// linesOf returns where a unit's table of lines begins; nil: it has none.
func (f *File) linesOf(unit *dwarf.Entry) []byte {
	at, ok := unit.Val(dwarf.AttrStmtList).(int64)
	if !ok || at < 0 || at > int64(len(f.lines)) {
		return nil
	}
	return f.lines[at:]
}

// lineIn returns the first address of a line in a unit, and adds the lines of the file that have code, and
// the files that there are.
func (f *File) lineIn(unit *dwarf.Entry, file string, line int, lines *[]int, files map[string]bool) (addr uint64, ok bool) {
	count, err := countFiles(f.linesOf(unit))
	if f.rows += count / 8; err != nil || f.rows > maxEntries {
		return 0, false
	}
	r, err := f.data.LineReader(unit)
	if err != nil || r == nil {
		return 0, false
	}
	var e dwarf.LineEntry
	for ; f.rows < maxEntries && r.Next(&e) == nil; f.rows++ {
		if e.EndSequence || !e.IsStmt || e.File == nil {
			continue
		}
		if e.File.Name != file && !strings.HasSuffix(e.File.Name, "/"+file) {
			if len(files) < maxParts {
				files[e.File.Name[strings.LastIndexByte(e.File.Name, '/')+1:]] = true
			}
			continue
		}
		if len(*lines) < maxParts {
			*lines = append(*lines, e.Line)
		}
		if e.Line == line && (!ok || e.Address < addr) {
			addr, ok = e.Address, true
		}
	}
	return addr, ok
}
