package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/arch/amd64"
)

var (
	allEdits = slices.Concat(shimEdits, trapEdits)
	allAdded = slices.Concat(trapFiles, abandonFiles, shimFiles)
)

func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// replacements reads an overlay file.
func replacements(t *testing.T, path string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Replace map[string]string }
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	return o.Replace
}

func TestInstalledLibraryTakesEveryEdit(t *testing.T) {
	root, dir := goroot(t), t.TempDir()
	path, err := Generate(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	replace := replacements(t, path)
	text := func(file string) string {
		b, err := os.ReadFile(replace[filepath.Join(root, "src", filepath.FromSlash(file))])
		if err != nil {
			t.Fatalf("%s is not in the overlay: %v", file, err)
		}
		return string(b)
	}
	for _, e := range allEdits {
		if n := strings.Count(text(e.file), e.new); n != e.count {
			t.Errorf("%s has %q %d times, want %d", e.file, e.new, n, e.count)
		}
		if !strings.Contains(e.new, e.old) && strings.Contains(text(e.file), e.old) {
			t.Errorf("%s still has %q", e.file, e.old)
		}
	}
	for _, a := range slices.Concat(trapFiles, shimFiles) {
		if ours, err := files.ReadFile(a.from); err != nil || text(a.file) != string(ours) {
			t.Errorf("%s is not %s (%v)", a.file, a.from, err)
		}
	}
	want := map[string]bool{}
	for _, f := range changedFiles() {
		want[filepath.Join(root, "src", filepath.FromSlash(f))] = true
	}
	for file := range replace {
		if !want[file] {
			t.Errorf("the overlay has %s too", file)
		}
	}
}

// changedFiles lists what the overlay changes or adds.
func changedFiles() []string {
	all := map[string]bool{}
	for _, e := range allEdits {
		all[e.file] = true
	}
	for _, a := range allAdded {
		all[a.file] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// library copies the files that are edited to a GOROOT of their own.
func library(t *testing.T) string {
	t.Helper()
	from, to := goroot(t), t.TempDir()
	for _, e := range allEdits {
		file := filepath.Join("src", filepath.FromSlash(e.file))
		b, err := os.ReadFile(filepath.Join(from, file))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, file)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, file), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestOtherLibraryIsRefused takes away one place after the other that is to be
// changed, and doubles it.
func TestOtherLibraryIsRefused(t *testing.T) {
	root, dir := library(t), t.TempDir()
	if _, err := Generate(root, dir); err != nil {
		t.Fatal(err)
	}
	for _, e := range allEdits {
		path := filepath.Join(root, "src", filepath.FromSlash(e.file))
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, doctored := range map[string]string{
			"missing": strings.Replace(string(good), e.old, "", 1),
			"twice":   strings.Replace(string(good), e.old, e.old+e.old, 1),
			"empty":   "",
		} {
			os.WriteFile(path, []byte(doctored), 0o644)
			_, err := Generate(root, t.TempDir())
			if !errors.Is(err, ErrUnexpected) || !strings.Contains(err.Error(), e.file) ||
				name == "missing" && !strings.Contains(err.Error(), fmt.Sprintf("%q", e.old)) {
				t.Errorf("%s with %q %s: %v", e.file, e.old, name, err)
			}
		}
		os.WriteFile(path, good, 0o644)
	}
	if _, err := Generate(root, dir); err != nil {
		t.Errorf("all in place again: %v", err)
	}
}

func TestMissingFileIsNamed(t *testing.T) {
	root := library(t)
	os.Remove(filepath.Join(root, "src", "runtime", "malloc.go"))
	if _, err := Generate(root, t.TempDir()); !errors.Is(err, ErrUnexpected) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "runtime/malloc.go") {
		t.Errorf("without malloc.go: %v", err)
	}
}

func TestNothingIsWrittenOutsideTheFolder(t *testing.T) {
	root, above := library(t), t.TempDir()
	dir := filepath.Join(above, "a", "overlay")
	before := snapshot(t, root)
	path, err := Generate(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	if after := snapshot(t, root); !maps.Equal(before, after) {
		t.Errorf("the library has changed")
	}
	for file := range snapshot(t, above) {
		if !strings.HasPrefix(file, dir+string(filepath.Separator)) {
			t.Errorf("wrote %s", file)
		}
	}
	for file, by := range replacements(t, path) {
		if !strings.HasPrefix(by, dir+string(filepath.Separator)) || !strings.HasPrefix(file, root+string(filepath.Separator)) {
			t.Errorf("%s is replaced by %s", file, by)
		}
	}
}

// snapshot returns the files below dir and when they were last written.
func snapshot(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all[path] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestUnchangedFilesStayAsTheyAre: a build that changes nothing rebuilds nothing.
func TestUnchangedFilesStayAsTheyAre(t *testing.T) {
	root, dir := library(t), t.TempDir()
	if _, err := Generate(root, dir); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	for file := range snapshot(t, dir) {
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	changed := filepath.Join(root, "src", "runtime", "malloc.go")
	text, _ := os.ReadFile(changed)
	os.WriteFile(changed, append(text, "// more\n"...), 0o644)
	if _, err := Generate(root, dir); err != nil {
		t.Fatal(err)
	}
	for file, when := range snapshot(t, dir) {
		if again := filepath.Base(file) == "malloc.go"; again == when.Equal(old) {
			t.Errorf("%s: written again: %v, want %v", file, !when.Equal(old), again)
		}
	}
}

// TestReadmeListsEveryChange: a row per file with a reason, and no other rows.
func TestReadmeListsEveryChange(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\| [^|]{20,} \\|$").FindAllStringSubmatch(string(b), -1) {
		rows = append(rows, m[1])
	}
	slices.Sort(rows)
	rows = slices.Compact(rows) // some are changed for two purposes
	if want := changedFiles(); !slices.Equal(rows, want) {
		t.Errorf("rows: %q\nwant: %q", rows, want)
	}
}

// TestVectorsAreThoseOfTheTable: package runtime cannot import the table.
func TestVectorsAreThoseOfTheTable(t *testing.T) {
	files, err := filepath.Glob("_runtime/*.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	vector := regexp.MustCompile(`(?m)^\s*INT\s+\$(\S+)`)
	var found []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range vector.FindAllStringSubmatch(string(text), -1) {
			found = append(found, name+" "+m[1])
		}
	}
	want := []string{fmt.Sprintf("_runtime/sonde_abandon_amd64.s %#x", amd64.VecAbandon)}
	if !slices.Equal(found, want) {
		t.Errorf("software interrupts %q, the table in arch/amd64 says %q", found, want)
	}
}
