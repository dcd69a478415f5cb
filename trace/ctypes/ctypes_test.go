package ctypes

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sonde/trace/lang"
)

// compiled is testdata/types.c as a program, and its sections.
func compiled(t testing.TB, flags ...string) (program string, sections map[string][]byte) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc")
	}
	program = filepath.Join(t.TempDir(), "types")
	if out, err := exec.Command(gcc, append(flags, "-w", "-o", program, "testdata/types.c")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program, sectionsOf(t, program)
}

func sectionsOf(t testing.TB, program string) map[string][]byte {
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sections := map[string][]byte{}
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") || s.Name == ".gnu_debuglink" {
			if sections[s.Name], err = s.Data(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return sections
}

// each runs a test on what several versions of the format, and the optimizer, make of the program.
func each(t *testing.T, test func(t *testing.T, program string, f *File)) {
	for _, flags := range [][]string{{"-g"}, {"-g", "-O2"}, {"-gdwarf-4"}, {"-gdwarf-3", "-gstrict-dwarf"}, {"-gdwarf-2", "-gstrict-dwarf"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			program, sections := compiled(t, flags...)
			f, err := Open(sections)
			if err != nil {
				t.Fatal(err)
			}
			test(t, program, f)
		})
	}
}

// TestStructures compares offsets and sizes with what the program itself prints.
func TestStructures(t *testing.T) {
	each(t, func(t *testing.T, program string, f *File) {
		out, _ := exec.Command(program).Output() // it returns the sum of something
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != 18 {
			t.Fatalf("the program printed %q", out)
		}
		outer := named(t, f, "outer").To
		for _, line := range lines {
			var what string
			var want int
			line = strings.Replace(line, "sizeof ", "sizeof_", 1)
			if _, err := fmt.Sscan(line, &what, &want); err != nil {
				t.Fatal(err)
			}
			got := -1
			if name, is := strings.CutPrefix(what, "sizeof_"); is {
				got = named(t, f, name).Bytes
			} else if m := outer.Field(strings.TrimPrefix(what, "outer.")); m != nil {
				got = m.Offset
			}
			if got != want {
				t.Errorf("%s is %d; the program says %d", what, got, want)
			}
		}
	})
}

func named(t *testing.T, f *File, name string) lang.Type {
	t.Helper()
	of, err := f.Named(name)
	if err != nil {
		t.Fatalf("there is no %s", name)
	}
	return of
}

func TestTypes(t *testing.T) {
	each(t, func(t *testing.T, _ string, f *File) {
		outer := named(t, f, "outer").To
		for field, want := range map[string]string{"letter": "int8", "name": "int8 *", "colour": "uint32", "points": "struct point[3]", "number": "struct number", "inner": "struct inner *",
			"next": "struct outer *", "grid": "int32[3][2]", "huge": "uint64[2]", "real": "void", "yes": "bool", "rest": "int32[0]", "wide": "int64"} {
			if m := outer.Field(field); m == nil || m.Type.String() != want {
				t.Errorf("%s: %+v; want %s", field, m, want)
			}
		}
		if m := outer.Field("inner").Type.To.Field("outers"); m == nil || m.Type.String() != "struct outer * *" {
			t.Errorf("inner.outers: %+v", m)
		}
		if e := outer.Field("colour").Type.Enum; e == nil || e.Name != "colour" || e.Names[5] != "GREEN" || e.Names[6] != "BLUE" {
			t.Errorf("colour: %+v", e)
		}
		if m := named(t, f, "number").To.Field("bytes"); m == nil || m.Type.Kind != lang.String || m.Type.Bytes != 16 {
			t.Errorf("number.bytes: %+v", m)
		}
	})
}

// TestBitFields compares with where the ABI has them: in words of their type, from the lowest bit.
func TestBitFields(t *testing.T) {
	each(t, func(t *testing.T, _ string, f *File) {
		outer := named(t, f, "outer").To
		for name, want := range map[string][2]int{"low": {128, 3}, "middle": {131, 7}, "high": {138, 20}, "wide": {192, 40}} {
			m := outer.Field(name)
			if m == nil || 8*m.Offset+m.Shift != want[0] || m.Bits != want[1] || m.Shift+m.Bits > 8*m.Type.Bytes {
				t.Errorf("%s: %+v; want bit %d, %d bits", name, m, want[0], want[1])
			}
		}
	})
}

// TestFunctions compares with what the System V ABI says.
func TestFunctions(t *testing.T) {
	regs := []int{112, 104, 96, 88, 72, 64}
	for name, want := range map[string]string{
		"registers": "a int 112|b const char* 104|c struct outer* 96|e enum colour 88|f point_t 72|g unsigned char 64",
		"split":     "a long int 112|b long int 104|c long int 96|d long int 88|e long int 72|f struct pair stack 8|g long int 64|h int stack 24",
		"stacked":   "a struct large stack 8|d struct large stack 48|e int 104",
		"twice":     "half int 112",
	} {
		each(t, func(t *testing.T, _ string, f *File) {
			args, err := f.Function(name, regs)
			var got []string
			for _, a := range args {
				got = append(got, fmt.Sprint(a.Name, " ", a.Text, " ", map[bool]string{true: "stack "}[a.Stack], a.Offset))
			}
			if text := strings.Join(got, "|"); err != nil || text != want {
				t.Errorf("%s: %v\n%s\n%s", name, err, text, want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	each(t, func(t *testing.T, _ string, f *File) {
		for _, file := range []string{"types.c", "testdata/types.c"} {
			if name, off, err := f.Line(file, 63); err != nil || name != "registers" || off != 0 { // its brace
				t.Errorf("%s:63: %s+%#x, %v", file, name, off, err)
			}
		}
		if name, off, err := f.Line("types.c", 64); err != nil || name != "registers" {
			t.Errorf("64: %s+%#x, %v", name, off, err)
		}
		for line, why := range map[int]string{3: "types.c:3 has no code", 100000: "types.c:100000 has no code"} {
			if _, _, err := f.Line("types.c", line); err == nil || err.Error() != why {
				t.Errorf("%d: %v", line, err)
			}
		}
		if _, _, err := f.Line("type.c", 63); err == nil || !strings.Contains(err.Error(), "no code in it is from a file type.c") || err.(*lang.Hinted).Hint != "did you mean types.c?" {
			t.Error(err)
		}
	})
}

func TestRefusals(t *testing.T) {
	_, sections := compiled(t)
	if _, err := Open(sections); err == nil || err.Error() != "there is no DWARF: compile with -g" {
		t.Error(err)
	}
	_, sections = compiled(t, "-g")
	f, err := Open(sections)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Function("printf", nil); err == nil || !strings.Contains(err.Error(), "without -g") {
		t.Error(err)
	}
	if _, err := f.Function("registers.isra.0", nil); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Error(err)
	}
	if _, err := f.Named("nobody"); err == nil {
		t.Error("there is a type nobody")
	}
	sections[".debug_abbrev"] = sections[".debug_abbrev"][:10]
	if _, err := Open(sections); err == nil || !strings.HasPrefix(err.Error(), "its DWARF is wrong: ") {
		t.Error(err)
	}
}

// TestElsewhere: what other files have is not read, and they are named.
func TestElsewhere(t *testing.T) {
	for _, flags := range [][]string{{"-gdwarf-5", "-gsplit-dwarf"}, {"-gdwarf-4", "-gsplit-dwarf"}} {
		_, sections := compiled(t, append(flags, "-dumpdir", t.TempDir()+"/")...)
		f, err := Open(sections)
		if err != nil {
			t.Fatal(err)
		}
		_, named := f.Named("nobody")
		_, function := f.Function("registers", nil)
		_, _, line := f.Line("types.c", 63)
		for what, err := range map[string]error{"type nobody": named, "function registers": function, "function with types.c:63": line} {
			if err == nil || !strings.HasPrefix(err.Error(), "its DWARF has no "+what+": more is in files such as ") || !strings.Contains(err.Error(), ".dwo\", which are not read") {
				t.Errorf("%v: %v", flags, err)
			}
		}
	}
	program, _ := compiled(t, "-g")
	for _, args := range [][]string{{"--only-keep-debug", program, program + ".debug"}, {"--strip-debug", "--add-gnu-debuglink=" + program + ".debug", program}} {
		if out, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	_, err := Open(sectionsOf(t, program))
	if want := `its DWARF is in a file of its own, "types.debug" (.gnu_debuglink), which is not beside it, in .debug or in /usr/lib/debug, or is of another build`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// FuzzFile: whatever a file says, it is read in bounded time and memory.
func FuzzFile(f *testing.F) {
	for _, flags := range []string{"-gdwarf-5", "-gdwarf-3"} {
		_, s := compiled(f, flags)
		f.Add(s[".debug_info"], s[".debug_abbrev"], s[".debug_line"], s[".debug_str"], s[".debug_line_str"])
	}
	f.Fuzz(func(t *testing.T, info, abbrev, line, str, lineStr []byte) {
		d, err := Open(map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev, ".debug_line": line, ".debug_str": str, ".debug_line_str": lineStr})
		if err != nil {
			return
		}
		for name := range d.functions {
			args, _ := d.Function(name, []int{1, 2, 3, 4, 5, 6})
			for _, a := range args {
				walk(a.Type, 1)
			}
		}
		for name := range d.types {
			of, _ := d.Named(name)
			walk(of, 1)
		}
		for name := range d.typedefs {
			d.Named(name)
		}
		d.Line("types.c", 63)
	})
}

// walk looks at fields: all that are inside others, and what a pointer leads to.
func walk(t lang.Type, pointers int) {
	if t.Elem != nil && (t.Kind != lang.Pointer || pointers > 0) {
		walk(*t.Elem, pointers-1)
	}
	if t.To == nil || t.Kind == lang.Pointer && pointers <= 0 {
		return
	}
	for _, m := range t.To.All() {
		walk(m.Type, 0)
	}
}
