package pcln_test

import (
	"debug/dwarf"
	"debug/elf"
	"debug/gosym"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sonde/internal/image"
	"sonde/kallsyms/pcln"
)

// linked is the test image as it was linked: its table, and the file.
func linked(t testing.TB) (*pcln.Table, *elf.File) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the test image")
	}
	path, err := image.Build(image.BuildOptions{Test: true})
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	section := f.Section(".gopclntab")
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := pcln.Load(data, data[symbol(t, f, "go:func.*")-section.Addr:], symbol(t, f, "runtime.text"))
	if err != nil {
		t.Fatal(err)
	}
	return table, f
}

func symbol(t testing.TB, f *elf.File, name string) uint64 {
	t.Helper()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

// TestSpansAgreeWithGosym: each address of the image has the line that debug/gosym says.
func TestSpansAgreeWithGosym(t *testing.T) {
	table, f := linked(t)
	data, _ := f.Section(".gopclntab").Data()
	want, err := gosym.NewTable(nil, gosym.NewLineTable(data, symbol(t, f, "runtime.text")))
	if err != nil {
		t.Fatal(err)
	}
	spans := 0
	for i := range table.Len() {
		fn := table.Func(i)
		if fn.Name() == "" || strings.HasPrefix(fn.Name(), "go:") {
			continue // a mark of the linker, which has no lines
		}
		at := fn.Addr
		for s := range fn.Spans {
			if s.Begin != at || s.End <= s.Begin {
				t.Fatalf("%s: a span from %#x to %#x, after one that ends at %#x", fn.Name(), s.Begin, s.End, at)
			}
			at = s.End
			spans++
			for _, pc := range []uint64{s.Begin, s.End - 1} {
				file, line, in := want.PCToLine(pc)
				if in == nil || file != fn.File(s) || line != s.Line || in.Name != fn.Name() {
					t.Fatalf("%#x: %s, line %d of %s; gosym says %s, line %d of %s", pc, fn.Name(), s.Line, fn.File(s), in.Name, line, file)
				}
			}
		}
	}
	if t.Logf("%d functions, %d spans", table.Len(), spans); spans < 100_000 {
		t.Error("too few")
	}
}

// TestCopiesAgreeWithDWARF compares the copies of all functions with the inlined subroutines in the
// image's DWARF: their code is what the table says. Initializations of package variables may differ:
// there the compiler does not say where the calls were, so that copies in copies are not known.
func TestCopiesAgreeWithDWARF(t *testing.T) {
	table, f := linked(t)
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	covers := map[string][]pcln.Span{}
	for _, p := range table.Copies(func(string) bool { return true }) {
		name, _ := p.Func.Copy(p.Copy)
		covers[name] = append(covers[name], p.Spans...)
	}
	covered := func(name string, at uint64) bool {
		return slices.ContainsFunc(covers[name], func(s pcln.Span) bool { return s.Begin <= at && at < s.End })
	}
	copies, missing := 0, 0
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		origin := d.Reader()
		origin.Seek(e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset))
		of, err := origin.Next()
		if err != nil {
			t.Fatal(err)
		}
		name := of.Val(dwarf.AttrName).(string)
		ranges, err := d.Ranges(e)
		if err != nil {
			t.Fatal(err)
		}
		copies++
		for _, r := range ranges {
			if strings.Contains(name, "[") {
				continue // DWARF has the type arguments, pclntab "..."
			}
			if !covered(name, r[0]) || !covered(name, r[1]-1) {
				missing++
				t.Logf("%s: no copy begins at %#x", name, r[0])
			}
		}
	}
	if t.Logf("%d inlined subroutines", copies); copies < 10_000 || missing*1000 > copies {
		t.Errorf("%d of %d ranges are missing", missing, copies)
	}
}

// TestBetweenIsEachLine: what one walk says of a file is what a walk for each line says; and a function is within its extent.
func TestBetweenIsEachLine(t *testing.T) {
	table, _ := linked(t)
	const file = "sonde/kernel/vfs/io.go"
	all := table.Between(file, 1, 1<<20)
	lines := table.Lines(file)
	if len(lines) < 20 || len(all) != len(lines) {
		t.Fatalf("%d lines, of %d", len(all), len(lines))
	}
	for _, line := range lines {
		if !reflect.DeepEqual(all[line], table.Line(file, line)) {
			t.Errorf("line %d: %v", line, all[line])
		}
		for _, p := range all[line] {
			if in, first, last := p.Func.Extent(); p.Copy < 0 && in == file && (line < first || line > last) {
				t.Errorf("line %d of %s is not from %d to %d", line, p.Func.Name(), first, last)
			}
		}
	}
}
