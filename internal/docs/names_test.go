package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// These are what a span of a page may name besides files and Go names. A span of several words is a
// command line, of which the first word is the name.
var (
	makeSpan   = regexp.MustCompile("^make ([a-z][a-z-]*)")
	sysctlSpan = regexp.MustCompile(`^(?:sysctl (?:-w )?)?((?:debug|kernel|vm)\.[a-z_-]+)(?:=|$)`)
	ownPackage = regexp.MustCompile(`^sonde/([\w/]+)(?:\.[\w(*]|$)`)
	wordSpan   = regexp.MustCompile(`^([a-z_]+) [^ ]`)
	target     = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	sysctlName = regexp.MustCompile(`sysctl\.New\w+\(\s*"([a-z._-]+)"`)
	ownCommand = regexp.MustCompile(`Name:\s+"([^"]+)"`)
)

// known is what the tree has under names that are not files.
type known struct{ targets, sysctls, commands map[string]bool }

// matchesIn returns the first submatches of a pattern in files.
func matchesIn(t *testing.T, of *regexp.Regexp, patterns ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files at %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range of.FindAllStringSubmatch(string(text), -1) {
				names[m[1]] = true
			}
		}
	}
	return names
}

func readKnown(t *testing.T) known {
	k := known{
		targets:  matchesIn(t, target, "Makefile"),
		sysctls:  map[string]bool{},
		commands: matchesIn(t, ownCommand, "shell/*.go", "shell/coreutils/*.go", "ktest/*.go"),
	}
	for name := range matchesIn(t, sysctlName, "*/*.go", "*/*/*.go", "*/*/*/*.go") {
		k.sysctls[strings.ReplaceAll(name, "_", "-")] = true
	}
	for _, pattern := range []string{"tools/*.bt", "user/testdata/*", "course/labs/7/*"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, file := range files {
			k.commands[strings.TrimSuffix(filepath.Base(file), ".bt")] = true
		}
	}
	maps.Copy(k.commands, matchesIn(t, regexp.MustCompile(`Name: "([a-z0-9]+)"`), "user/main.go", "user/tools/*.go"))
	return k
}

// elsewhere are first words of spans that are not commands of the kernel: programs of the host and of
// QEMU, and words of the languages that pages quote.
var elsewhere = strings.Fields("git go make dd apt sudo gdb hbreak gopls debootstrap diff find perf clang bpftrace qemu info cutmem " +
	"prog map link btf format feature cd for while declare struct const func int kp di output")

// missing returns the names in a page's spans that the tree does not have.
func (k known) missing(all tree, text string) (missing []string) {
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		s := m[1]
		if m := makeSpan.FindStringSubmatch(s); m != nil && !k.targets[m[1]] {
			missing = append(missing, s)
		}
		if m := sysctlSpan.FindStringSubmatch(s); m != nil && !k.sysctls[strings.ReplaceAll(m[1], "_", "-")] {
			missing = append(missing, s)
		}
		if m := ownPackage.FindStringSubmatch(s); m != nil && !all.paths[m[1]] {
			missing = append(missing, s)
		}
		if m := wordSpan.FindStringSubmatch(s); m != nil && !k.commands[m[1]] && !slices.Contains(elsewhere, m[1]) {
			missing = append(missing, s)
		}
	}
	return missing
}

// TestPagesNameWhatCanBeTyped: targets of make, kernel parameters, packages and commands that a page
// names in code are there.
func TestPagesNameWhatCanBeTyped(t *testing.T) {
	k, all := readKnown(t), readTree(t)
	if len(k.targets) < 20 || len(k.sysctls) < 10 || len(k.commands) < 100 {
		t.Fatalf("%d targets, %d parameters, %d commands", len(k.targets), len(k.sysctls), len(k.commands))
	}
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range k.missing(all, string(text)) {
			t.Errorf("%s: `%s` names something that is not there", strings.TrimPrefix(path, root+"/"), name)
		}
	}
}

func TestMissingNamesAreFound(t *testing.T) {
	k, all := readKnown(t), readTree(t)
	const text = "`make check`, `make chekc`, `sysctl -w debug.kprobes_optimization=0`, `debug.kprobes-plane`,\n" +
		"`sonde/kernel/vfs.Read`, `sonde/kernel/vsf.Read`, `sonde/kprobe`, `insmod kprobe_example`, `explane vfs.Read`, `dmesg -n 1`, `myprog -n 1`\n"
	want := []string{"make chekc", "debug.kprobes-plane", "sonde/kernel/vsf.Read", "sonde/kprobe", "explane vfs.Read"}
	if got := k.missing(all, text); !slices.Equal(got, want) {
		t.Errorf("missing %q, want %q", got, want)
	}
}

// members returns the fields and methods that types of the tree declare, by "Type.Name"; types of
// one name are taken together.
func members(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "build" || d.Name() == "testdata" || d.Name()[0] == '.' || d.Name()[0] == '_'):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool { addMembers(names, n); return true })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// addMembers adds what a method or a type declares.
func addMembers(names map[string]bool, n ast.Node) {
	fields := func(of string, list *ast.FieldList) {
		for _, f := range list.List {
			for _, id := range f.Names {
				names[of+"."+id.Name] = true
			}
		}
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv != nil {
			names[typeName(n.Recv.List[0].Type)+"."+n.Name.Name] = true
		}
	case *ast.TypeSpec:
		switch x := n.Type.(type) {
		case *ast.StructType:
			fields(n.Name.Name, x.Fields)
		case *ast.InterfaceType:
			fields(n.Name.Name, x.Methods)
		}
	}
}

// typeName is the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

var memberSpan = regexp.MustCompile(`^([A-Z]\w*[a-z]\w*|T)\.([A-Z]\w*)$`)

// TestMembersExist: what a page calls Type.Name, in code, is a field or a method.
func TestMembersExist(t *testing.T) {
	names, n := members(t), 0
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range span.FindAllStringSubmatch(string(text), -1) {
			if m := memberSpan.FindStringSubmatch(m[1]); m != nil {
				if n++; !names[m[0]] {
					t.Errorf("%s: `%s`: no type of this name has such a field or method", path, m[0])
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d names were read", n)
	}
}
