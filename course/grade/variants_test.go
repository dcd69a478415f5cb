package main

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sonde/internal/image"
)

// A variant is a lab's solution, its starter, or a wrong solution: the files, and what the tests
// must say.
type variant struct {
	name  string
	files map[string]string
	fails map[string]Outcome // by the ID of the test; the others pass
}

// labsHere are the labs of the tree.
func labsHere(t *testing.T) (labs []*Lab) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(rootOf(t), "course", "labs", "*", "lab.txt"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no labs", err)
	}
	for _, d := range dirs {
		n, err := strconv.Atoi(filepath.Base(filepath.Dir(d)))
		if err != nil {
			t.Fatal(err)
		}
		l, err := readLab(rootOf(t), n)
		if err != nil {
			t.Fatal(err)
		}
		labs = append(labs, l)
	}
	return labs
}

func rootOf(t *testing.T) string {
	t.Helper()
	root, err := image.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// filesIn reads the files of a lab in a folder.
func (l *Lab) filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range l.Files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

// solution returns the files of the lab's solution.
func (l *Lab) solution(t *testing.T) map[string]string { return l.solutions(t)[strconv.Itoa(l.N)] }

// solutions returns the files of all solutions: that in solutions/N, and others in solutions/N-NAME.
func (l *Lab) solutions(t *testing.T) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, pattern := range []string{"%d", "%d-*"} {
		dirs, _ := filepath.Glob(filepath.Join(rootOf(t), "course", "solutions", fmt.Sprintf(pattern, l.N)))
		for _, dir := range dirs {
			all[filepath.Base(dir)] = l.filesIn(t, dir)
		}
	}
	return all
}

// wrong reads the wrong solutions, each file of which changes one of the solutions.
func (l *Lab) wrong(t *testing.T) (list []variant) {
	for _, name := range slices.Sorted(maps.Keys(l.solutions(t))) {
		list = append(list, l.changed(t, filepath.Join(rootOf(t), "course", "wrong", name+".txt"), name)...)
	}
	return list
}

// changed reads changes of a solution.
func (l *Lab) changed(t *testing.T, path, solution string) (list []variant) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "\n== ")[1:] {
		head, body, _ := strings.Cut(block, "\n")
		name, ids, ok := strings.Cut(head, " fails ")
		if !ok {
			t.Fatalf("%s: %q does not say what fails", path, head)
		}
		v := variant{name: name, files: l.solutions(t)[solution], fails: map[string]Outcome{}}
		for id := range strings.FieldsSeq(ids) {
			id, outcome, found := strings.Cut(id, "=")
			if !found {
				outcome = string(Fail)
			}
			v.fails[id] = Outcome(strings.ReplaceAll(outcome, "_", " "))
		}
		if err := v.change(body); err != nil {
			t.Fatalf("%s: %s: %v", path, name, err)
		}
		list = append(list, v)
	}
	return list
}

// change makes the changes of a wrong solution: lines with "-" are replaced by those with "+" that
// follow. An empty line ends a change.
func (v *variant) change(body string) error {
	var old, put strings.Builder
	flush := func() error {
		defer func() { old.Reset(); put.Reset() }()
		if old.Len() == 0 {
			return nil
		}
		for name, text := range v.files {
			if strings.Count(text, old.String()) == 1 {
				v.files[name] = strings.Replace(text, old.String(), put.String(), 1)
				return nil
			}
		}
		return fmt.Errorf("the solution does not have this once:\n%s", old.String())
	}
	last := byte('+')
	for line := range strings.Lines(body + "\n") {
		if line[0] == '\n' || line[0] == '-' && last != '-' {
			if err := flush(); err != nil {
				return err
			}
		}
		switch last = line[0]; last {
		case '-':
			old.WriteString(line[1:])
		case '+':
			put.WriteString(line[1:])
		}
	}
	return flush()
}

// lay writes variants into a folder, each as a package of its own whose module has a name of its own,
// so that one kernel has them all. It returns the names of the modules.
func (l *Lab) lay(t *testing.T, dir string, list []variant) (modules []string) {
	t.Helper()
	clean(t, dir)
	for i, v := range list {
		module := fmt.Sprintf("%s_%d", l.Module, i)
		l.layOne(t, filepath.Join(dir, module), module, v)
		modules = append(modules, module)
	}
	return modules
}

// clean makes a folder for variants, with nothing in it.
func clean(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	version, err := goVersion(rootOf(t))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "go.mod"), fmt.Sprintf("module variants\n\ngo %s\n", version))
}

// layOne writes a variant into a folder, as a module with a name.
func (l *Lab) layOne(t *testing.T, dir, module string, v variant) {
	t.Helper()
	for name, text := range v.files {
		if slices.Contains(l.Host, name) {
			name = aside(name)
		} else {
			text = strings.ReplaceAll(text, l.Module, module)
		}
		if _, err := format.Source([]byte(text)); err != nil && strings.HasSuffix(name, ".go") {
			t.Fatalf("%s: %v\n%s", v.name, err, text)
		}
		writeFile(t, filepath.Join(dir, name), text)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestChange(t *testing.T) {
	v := variant{files: map[string]string{"a": "1\n2\n3\n4\n"}}
	if err := v.change("-1\n-2\n+x\n-4\n\n-3\n"); err != nil || v.files["a"] != "x\n" {
		t.Errorf("%q, %v", v.files["a"], err)
	}
	if err := v.change("-1\n+2\n"); err == nil || !bytes.Contains([]byte(err.Error()), []byte("does not have this once")) {
		t.Errorf("%v", err)
	}
}
