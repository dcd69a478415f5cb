package mutants

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/internal/image"
	"sonde/qemu/report"
)

const root = "../.."

// TestListFitsTheTree: each text that is to be replaced is there once, and each test
// that is to fail exists.
func TestListFitsTheTree(t *testing.T) {
	all := List()
	if len(all) < 30 {
		t.Errorf("%d mutants", len(all))
	}
	cases := caseNames(t)
	names := map[string]bool{}
	for _, m := range all {
		if names[m.Name] || m.Why == "" {
			t.Errorf("%s: there are two, or it does not say why", m.Name)
		}
		names[m.Name] = true
		checkText(t, m)
		switch {
		case m.By.Case != "" && (m.By.CPUs < 1 || !strings.Contains(cases, `"`+strings.TrimSuffix(m.By.Case, "_in_trap")+`"`)): // added by both
			t.Errorf("%s: there is no case %s, or no CPU", m.Name, m.By.Case)
		case m.By.Case == "" && !hasTest(t, m.By.Package, m.By.Name):
			t.Errorf("%s: there is no %s in %s", m.Name, m.By.Name, m.By.Package)
		}
	}
}

// checkText makes the mutant, which is Go.
func checkText(t *testing.T, m Mutant) {
	t.Helper()
	file, text, err := m.mutated(root)
	if err != nil {
		t.Error(err)
		return
	}
	if filepath.Ext(file) == ".go" {
		if _, err := parser.ParseFile(token.NewFileSet(), file, text, 0); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// caseNames returns the text of the kernel's suites.
func caseNames(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(root, "ktest", "suites"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hasTest looks for a test of the host's.
func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
				return true
			}
		}
	}
	return false
}

// TestMutantsDie runs the mutants that SONDE_MUTANTS names.
func TestMutantsDie(t *testing.T) {
	words := strings.Fields(os.Getenv("SONDE_MUTANTS"))
	if len(words) == 0 {
		t.Skip("SONDE_MUTANTS names no mutants")
	}
	some := Matching(words...)
	if len(some) == 0 {
		t.Fatalf("no mutant begins with %q", words)
	}
	dir, err := image.Root()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, m := range some {
		t.Run(m.Name, func(t *testing.T) {
			r := tree.Run(context.Background(), m)
			t.Logf("%s: %s by %s after %.0f s: %s", m.Name, r.Verdict, m.By, r.Took.Seconds(), r.Why)
			if r.Verdict != Killed {
				t.Errorf("%s: %s\n%s", m.Why, m.In, r.Output)
			}
		})
	}
}

func TestJudgeHost(t *testing.T) {
	for _, c := range []struct {
		out     string
		verdict Verdict
		why     string
	}{
		{"ok  \tsonde/kprobes\t0.01s\n", Survived, "passes"},
		{"ok  \tsonde/kprobes\t0.01s [no tests to run]\n", Broken, "no such test"},
		{"=== RUN   TestX\n--- PASS: TestX (0.01s)\nPASS\nok  \tsonde/x\t0.01s\n", Survived, "passes"},
		{"=== RUN   TestX\n    x_test.go:10: no such program\n--- SKIP: TestX (0.00s)\nPASS\nok  \tsonde/x\t0.01s\n", Broken, "no such program"},
		{"--- FAIL: TestX (0.00s)\n    x_test.go:10: 5, want 6\nFAIL\nFAIL\tsonde/x\t0.01s\nFAIL\n", Killed, "5, want 6"},
		{"panic: runtime error\n\ngoroutine 1\nFAIL\tsonde/x\t0.01s\nFAIL\n", Killed, "panic: runtime error"},
		{"# sonde/x\n./x.go:3: undefined: y\nFAIL\tsonde/x [build failed]\nFAIL\n", Broken, "undefined: y"},
		{"go: command not found\n", Broken, "not found"},
		{"", Broken, "nothing"},
	} {
		if r := judgeHost(Test{Name: "TestX"}, c.out); r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) {
			t.Errorf("%q: %s, %q", c.out, r.Verdict, r.Why)
		}
	}
}

func TestJudgeCase(t *testing.T) {
	const end = "leak: slots 0->0\n1 passed, 0 failed, 0 skipped\n"
	for _, c := range []struct {
		out     string
		verdict Verdict
		why     string
	}{
		{"=== a/b\nok a/b\n" + end, Survived, "passes"},
		{"=== a/b\nFAIL a/b: 5, want 6\n" + end, Killed, "5, want 6"},
		{"=== a/b\nqemu: kernel crashed: BUG\n", Killed, "BUG"},
		{"=== a/b\nok a/b\nleak: slots 0->1\n1 passed, 0 failed, 0 skipped\n", Killed, "leaked slots"},
		{"=== a/b\nok a/b\nqemu: kernel crashed: BUG\n", Killed, "behind it"},
		{"=== a/b\nskip a/b: one CPU\n" + end, Broken, "one CPU"},
		{"=== a/b_c\nFAIL a/b_c: x\n" + end, Broken, "does not begin"},
		{"qemu: kernel does not build\nx.go:3: undefined: y\n", Broken, "undefined: y"},
		{"qemu: kernel crashed: BUG in boot\n", Broken, "BUG in boot"},
	} {
		if r := judgeCase(Test{Case: "a/b"}, c.out, report.Parse(c.out)); r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) {
			t.Errorf("%q: %s, %q", c.out, r.Verdict, r.Why)
		}
	}
}

// TestMatching: by list, by the beginning of a name, all.
func TestMatching(t *testing.T) {
	for _, l := range lists {
		if some := Matching(l.name); len(some) < len(l.mutants) || len(l.mutants) == 0 {
			t.Errorf("%s: %d of %d", l.name, len(some), len(l.mutants))
		}
	}
	one := memory[0]
	if some := Matching(one.Name); len(some) != 1 || some[0] != one {
		t.Errorf("%s: %d", one.Name, len(some))
	}
	if all := Matching("all"); len(all) != len(List()) || len(Matching("memory", "all")) != len(all) {
		t.Errorf("%d of %d", len(all), len(List()))
	}
}
