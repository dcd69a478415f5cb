package kprobes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the sums of mirrors anew")

// A mirror is an assembly text that does in the usual case what Go functions do in
// all cases. A comment in front of it names them, with a sum of their source and one
// of the text:
//
//	// Mirrors onReturn, (*pool).put: go 0123456789ab, asm 0123456789ab.
//
// When one of the two sides changes its sum does, and this test fails until somebody
// has looked at the other side and run "go test ./kprobes -run Mirror -update".
type mirror struct {
	file, text string   // name of a TEXT or of a macro
	funcs      []string // as fn.name has them
	line       string   // the comment
	code       string   // the text, without comments
}

var (
	mirrorLine = regexp.MustCompile(`(?m)^// Mirrors (.*): go ([0-9a-f]*), asm ([0-9a-f]*)\.$`)
	textLine   = regexp.MustCompile(`(?m)^(?:TEXT ·|#define )(\w+)`)
	comment    = regexp.MustCompile(`//.*`)
	blanks     = regexp.MustCompile(`[ \t]+`)
)

// must are the texts that call or replace handlers without asking Go.
var must = []string{"detour", "NOTE", "trampoline"}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:6])
}

// mirrors reads the comments and texts of the package's assembly.
func mirrors(t *testing.T) (all []mirror) {
	t.Helper()
	files, err := filepath.Glob("*_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := string(b)
		for _, at := range mirrorLine.FindAllStringSubmatchIndex(s, -1) {
			text := textLine.FindStringSubmatchIndex(s[at[1]:])
			if text == nil {
				t.Fatalf("%s: %s: no text follows", file, s[at[0]:at[1]])
			}
			begin := at[1] + text[0]
			end := len(s)
			if next := textLine.FindStringIndex(s[begin+1:]); next != nil {
				end = begin + 1 + next[0]
			}
			all = append(all, mirror{
				file: file, text: s[at[1]+text[2] : at[1]+text[3]], line: s[at[0]:at[1]],
				funcs: strings.Split(s[at[2]:at[3]], ", "),
				code:  strings.TrimSpace(blanks.ReplaceAllString(comment.ReplaceAllString(s[begin:end], ""), " ")),
			})
		}
	}
	return all
}

// sources returns the functions of the package by name, "f" or "(*t).f", without
// comments.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				var recv bytes.Buffer
				printer.Fprint(&recv, fset, fn.Recv.List[0].Type)
				name = "(" + recv.String() + ")." + name
			}
			var b bytes.Buffer
			if err := printer.Fprint(&b, fset, fn); err != nil {
				t.Fatal(err)
			}
			found[name] = b.String()
		}
	}
	return found
}

// TestMirrorsAreOfWhatTheyName: see mirror.
func TestMirrorsAreOfWhatTheyName(t *testing.T) {
	all, source := mirrors(t), sources(t)
	for _, name := range must {
		if !slices.ContainsFunc(all, func(m mirror) bool { return m.text == name }) {
			t.Errorf("nothing says which functions %s mirrors", name)
		}
	}
	for _, m := range all {
		var code strings.Builder
		for _, f := range m.funcs {
			if source[f] == "" {
				t.Errorf("%s: %s mirrors %s, which is not there", m.file, m.text, f)
			}
			code.WriteString(source[f])
		}
		want := fmt.Sprintf("// Mirrors %s: go %s, asm %s.", strings.Join(m.funcs, ", "), sum(code.String()), sum(m.code))
		switch {
		case want == m.line:
		case *update:
			b, err := os.ReadFile(m.file)
			if err == nil {
				err = os.WriteFile(m.file, bytes.Replace(b, []byte(m.line), []byte(want), 1), 0o666)
			}
			if err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s: %s, or what it mirrors, has changed: look at %s, then go test ./kprobes -run Mirror -update",
				m.file, m.text, strings.Join(m.funcs, ", "))
		}
	}
}
