package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// evidence is what a piece of docs/conformance.md points to.
type evidence struct{ cases, stories, hosts []string }

func (e evidence) none() bool { return len(e.cases)+len(e.stories)+len(e.hosts) == 0 }

var (
	code     = regexp.MustCompile("`[^`]*`")
	slashed  = regexp.MustCompile(`[a-z]+/[\w'-]+(,_[\w'-]+)*`)
	hostTest = regexp.MustCompile(`\b([a-z0-9]+)\.(Test\w+)`)
	marks    = regexp.MustCompile(`\*(story|host):\*|;`)
)

// evidenceIn reads a cell or a paragraph. SUITE/CASE are cases of ktest; after
// "*story:*", up to a semicolon, FILE/NAME are stories as "go test -run TestStory/"
// takes them; after "*host:*", PACKAGE.TestNAME are Go tests.
func evidenceIn(text string, suites []string) (e evidence) {
	text = code.ReplaceAllString(text, "")
	kind, from := "", 0
	take := func(piece string) {
		switch kind {
		case "*story:*":
			e.stories = append(e.stories, slashed.FindAllString(piece, -1)...)
		case "*host:*":
			e.hosts = append(e.hosts, hostTest.FindAllString(piece, -1)...)
		default:
			for _, name := range slashed.FindAllString(piece, -1) {
				if suite, _, _ := strings.Cut(name, "/"); slices.Contains(suites, suite) {
					e.cases = append(e.cases, name)
				}
			}
		}
	}
	for _, m := range marks.FindAllStringIndex(text, -1) {
		take(text[from:m[0]])
		if kind, from = text[m[0]:m[1]], m[1]; kind == ";" {
			kind = ""
		}
	}
	take(text[from:])
	return e
}

// blocks splits a page into table rows, items of lists, and paragraphs.
func blocks(page string) (all []string) {
	for _, par := range strings.Split(page, "\n\n") {
		if !strings.HasPrefix(par, "|") {
			all = append(all, strings.Split(par, "\n- ")...)
			continue
		}
		all = append(all, strings.Split(strings.TrimSpace(par), "\n")...)
	}
	return all
}

// TestConformanceNamesTestsThatExist: every row names what shows it, or says that
// nothing can; and whatever is named anywhere on the page exists.
func TestConformanceNamesTestsThatExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := readTests(t)
	rows := 0
	for _, b := range blocks(string(page)) {
		e := evidenceIn(b, known.suites())
		for _, one := range known.unknown(e) {
			t.Errorf("%s: no such test", one)
		}
		if cells := strings.Split(strings.Trim(b, "| "), " | "); b[0] == '|' && isStatement(cells) {
			rows++
			last := cells[len(cells)-1]
			if evidenceIn(last, known.suites()).none() && !strings.Contains(last, "**no test:** ") {
				t.Errorf("nothing shows %q: %q", cells[len(cells)-2], last)
			}
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows were read", rows)
	}
}

// isStatement reports whether a table row is neither its head nor the line below.
func isStatement(cells []string) bool {
	last := cells[len(cells)-1]
	return last != "shown by" && last != "here" && !strings.HasPrefix(last, "---")
}

func TestEvidenceIsRead(t *testing.T) {
	e := evidenceIn("x | kprobes/a_case (56 bytes), other/thing and `kprobes/file`; *story:* kprobes/it's_b, shell/c; "+
		"*host:* insn.TestMove, entries.TestX; kprobes/d", []string{"kprobes"})
	want := evidence{[]string{"kprobes/a_case", "kprobes/d"}, []string{"kprobes/it's_b", "shell/c"}, []string{"insn.TestMove", "entries.TestX"}}
	if !slices.Equal(e.cases, want.cases) || !slices.Equal(e.stories, want.stories) || !slices.Equal(e.hosts, want.hosts) {
		t.Errorf("%q, want %q", e, want)
	}
	known := tests{map[string]bool{"kprobes/d": true}, map[string]bool{"shell/c": true}, map[string]bool{"insn.TestMove": true}}
	if got := known.unknown(e); !slices.Equal(got, []string{"kprobes/a_case", "kprobes/it's_b", "entries.TestX"}) {
		t.Errorf("unknown: %q", got)
	}
}
