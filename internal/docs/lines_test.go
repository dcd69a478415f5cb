package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// placeShown is a function and a line of it in a stack, as the kernel and gdb show them.
var placeShown = regexp.MustCompile(`sonde/[\w/]+\.((?:\(\*\w+\)\.)?\w+)(?:\+0x[0-9a-f/x]+| \([^\n]*?\) at) +(?:sonde/)?([\w/]+\.go):(\d+)`)

// linesOf returns the first and last line of a function of a file: "Read", "(*File).Read".
func linesOf(text []byte, name string) (first, last int) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, 0
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		have := fn.Name.Name
		if fn.Recv != nil {
			if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
				if id, ok := star.X.(*ast.Ident); ok {
					have = "(*" + id.Name + ")." + have
				}
			}
		}
		if have == name {
			return set.Position(fn.Pos()).Line, set.Position(fn.End()).Line
		}
	}
	return 0, 0
}

// wrongPlaces says which places shown in a text are not in the function that they are said to be in.
func wrongPlaces(text string) (all []string) {
	for _, m := range placeShown.FindAllStringSubmatch(text, -1) {
		source, err := os.ReadFile(filepath.Join(root, m[2]))
		if err != nil {
			all = append(all, m[2]+": there is no such file")
			continue
		}
		line, _ := strconv.Atoi(m[3])
		if first, last := linesOf(source, m[1]); line < first || line > last || first == 0 {
			all = append(all, m[2]+":"+m[3]+": "+m[1]+" is in lines "+strconv.Itoa(first)+" to "+strconv.Itoa(last))
		}
	}
	return all
}

// TestStacksNameLines: where a page shows a function with file and line, the line is one of that
// function.
func TestStacksNameLines(t *testing.T) {
	shown := 0
	for _, name := range pages(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown += len(placeShown.FindAllString(string(text), -1))
		for _, wrong := range wrongPlaces(string(text)) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	if shown < 20 {
		t.Errorf("%d places found, there were more than 20", shown)
	}
}

func TestWrongPlaces(t *testing.T) {
	for text, want := range map[string]string{
		" sonde/kernel/vfs.Read+0x1/0x1be  kernel/vfs/io.go:1":                                       "kernel/vfs/io.go:1: Read is in lines",
		"#7  in sonde/kernel/vfs.(*File).Read (f=0xc0, ...) at sonde/kernel/vfs/io.go:2":             "(*File).Read is in lines",
		"0x0 → 0x5  sonde/kernel/printk.SetConsoleLevel+0xc1  kernel/printk/none.go:54  goroutine 2": "there is no such file",
	} {
		if got := strings.Join(wrongPlaces(text), ""); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
