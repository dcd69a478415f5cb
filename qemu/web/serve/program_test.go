package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// built compiles a program, with DWARF.
func built(t *testing.T, compiler ...string) *Program {
	t.Helper()
	file := filepath.Join(t.TempDir(), "steps")
	c := exec.Command(compiler[0], append(compiler[1:], "-o", file, "./testdata/steps"+map[bool]string{true: "", false: ".c"}[compiler[0] == "go"])...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return &Program{Host: file, Guest: "/bin/steps"}
}

// marked are the lines of a source that have marks.
func marked(src *Source) (lines []int) {
	for _, l := range src.Lines {
		if l.Mark != "" {
			lines = append(lines, l.Number)
		}
	}
	return lines
}

// TestLinesOfPrograms: a function of a program in Go or in C is found, its source is that of this host, and each line
// with code has the place where that begins.
func TestLinesOfPrograms(t *testing.T) {
	for _, c := range []struct {
		compiler        []string
		function, place string
		lines           []int // that every compiler has code for
		first, last     int
		keyword         string
	}{
		{[]string{"go", "build"}, `/bin/steps:"main.(*walk).to1"`, `uprobe:/bin/steps:"main.(*walk).to1"+0x`, []int{11, 12, 14, 16}, 9, 18, "for"},
		{[]string{"gcc", "-g"}, "/bin/steps:steps", "uprobe:/bin/steps:steps+0x", []int{3, 5, 6, 7, 9}, 1, 10, "return"},
	} {
		if _, err := exec.LookPath(c.compiler[0]); err != nil {
			t.Logf("skipped: no %s", c.compiler[0])
			continue
		}
		p := built(t, c.compiler...)
		if all := p.functions(); !slices.Contains(all, c.function) {
			t.Errorf("%s is none of %d functions", c.function, len(all))
		}
		client, s := served(t, &fakeKernel{})
		s.Programs = []*Program{p}
		src, err := p.source(strings.ReplaceAll(strings.TrimPrefix(c.function, "/bin/steps:"), `"`, ""))
		if err != nil {
			t.Fatal(err)
		}
		got := marked(src)
		if slices.ContainsFunc(c.lines, func(n int) bool { return !slices.Contains(got, n) }) || slices.Min(got) < c.first || slices.Max(got) > c.last || !strings.HasPrefix(src.Lines[len(src.Lines)-2].Place, c.place) {
			t.Errorf("%s: lines %v with marks, which needs %v from %d to %d; %+v", c.function, got, c.lines, c.first, c.last, src.Lines[len(src.Lines)-2])
		}
		_, text := client.get("/source?f=" + url.QueryEscape(c.function))
		if !strings.Contains(text, "\\u003cspan class=\\\"keyword\\\"\\u003e"+c.keyword) {
			t.Errorf("the source is not shown: %s", text)
		}
		if _, text := client.get("/find?q=steps:main"); !strings.Contains(text, `"/bin/steps:main`) {
			t.Errorf("not found: %s", text)
		}
	}
}

// TestProgramsWithoutLines: why there is no source is said, and no file is shown but source.
func TestProgramsWithoutLines(t *testing.T) {
	client, s := served(t, &fakeKernel{})
	s.Programs = []*Program{{Host: "program.go", Guest: "/bin/none"}}
	if status, text := client.get("/source?f=" + url.QueryEscape("/bin/none:main")); status != http.StatusBadRequest || !strings.Contains(text, "program.go: bad magic") {
		t.Errorf("%d, %s", status, text)
	}
	if slices.Contains(languages, "") || slices.Contains(languages, ".json") {
		t.Error("any file is source")
	}
}

// TestGlassOfPrograms: the recording begins before the program does, whose output is not in it.
func TestGlassOfPrograms(t *testing.T) {
	const want = `sh -c 'cd /sys/kernel/debug/glass && echo '\''-n 2 /bin/steps:main.(*walk).to1'\'' > new && n=$(cat new) && { (cd / && steps
) > /dev/null 2>&1; cat $n; }'`
	q := recording{Place: "unused", Hit: 2, Command: "steps"}
	words, err := programGlass(q, "/bin/steps:main.(*walk).to1")
	if err != nil || typed(words) != want {
		t.Errorf("%v: %s", err, typed(words))
	}
	for why, q := range map[string]recording{"become a jump": {Way: true, Command: "x"}, `"jprobe"`: {Tier: "jprobe", Command: "x"}, "the command": {}} {
		if _, err := programGlass(q, "p"); err == nil || !strings.Contains(fmt.Sprint(err), why) {
			t.Errorf("%v, not %s", err, why)
		}
	}
}
