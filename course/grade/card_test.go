package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	cardSpan    = regexp.MustCompile("`([^`]+)`")
	cardWord    = regexp.MustCompile(`-?\w+`)
	purpose     = regexp.MustCompile(`\{(\w+|"\w+"), "([^"]*)"\}`)
	usageInGo   = regexp.MustCompile(`Name:\s+"(\S+)",\n(?:\s+Usage:\s+"((?:[^"\\]|\\.)*)")?`)
	controlKey  = regexp.MustCompile(`\^([A-Z])`)
	controlInGo = regexp.MustCompile(`ctrl\('([A-Z])'\)`)
)

// inTree returns the text of the files that a pattern fits, without tests.
func inTree(t *testing.T, pattern string) (all string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(rootOf(t), filepath.FromSlash(pattern)))
	if err != nil || len(paths) == 0 {
		t.Fatal(pattern, err)
	}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}

// codesIn returns the code in the nth cells of tables, without the first row.
func codesIn(text string, n int) (codes []string) {
	for _, row := range rowsOf(text)[1:] {
		for _, m := range cardSpan.FindAllStringSubmatch(row[n], -1) {
			codes = append(codes, m[1])
		}
	}
	return codes
}

// TestCardCommands: the reference card has all commands of the shell and all tools, with words of their usage.
func TestCardCommands(t *testing.T) {
	card := sectionsOf(coursePage(t, "card.md"))
	usage := map[string]string{}
	for _, m := range usageInGo.FindAllStringSubmatch(inTree(t, "shell/*.go"), -1) {
		usage[m[1]] = m[2]
	}
	var tools []string
	for line := range strings.Lines(toolHeads(t)) {
		name, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		tools, usage[name] = append(tools, name), words
	}
	var probe, shown []string
	others := codesIn(card["All other commands"], 1)
	list := strings.ReplaceAll(inTree(t, "shell/purposes.go"), "\" +\n\t\t\"", "")
	for _, m := range purpose.FindAllStringSubmatch(list, -1) {
		switch name := strings.Trim(m[1], `"`); {
		case name == "probe":
			probe = strings.Fields(m[2])
		case name == "measure":
			same(t, "tools", strings.Fields(m[2]), slices.Clone(tools))
		case m[2] != "" && !slices.Contains(others, m[2]):
			t.Errorf("the card has no line for %s: %s", name, m[2])
		}
	}
	for _, section := range []string{"Probes", "Tools"} {
		for _, command := range codesIn(card[section], 0) {
			name, words, _ := strings.Cut(command, " ")
			shown = append(shown, name)
			if _, found := usage[name]; !found {
				t.Errorf("there is no %s", name)
			}
			has := cardWord.FindAllString(usage[name], -1)
			for _, w := range cardWord.FindAllString(words, -1) {
				option := len(w) == 2 && w[0] == '-' && slices.ContainsFunc(has, func(h string) bool { return h[0] == '-' && strings.Contains(h, w[1:]) })
				if !option && !slices.Contains(has, w) {
					t.Errorf("%s: the usage has no %s: %s", command, w, usage[name])
				}
			}
		}
	}
	slices.Sort(shown)
	same(t, "commands", slices.Compact(shown), slices.Concat(probe, tools))
}

// toolHeads returns the first lines of the tools, which are their usage.
func toolHeads(t *testing.T) (all string) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(rootOf(t), "tools", "*.bt"))
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\n")
		all += strings.TrimPrefix(head, "// ") + "\n"
	}
	return all
}

// TestCardLines: places, one-liners, and what is typed on the host are on pages whose lines other tests try, or are
// there; the keys are those of the prompt's editor.
func TestCardLines(t *testing.T) {
	card := sectionsOf(coursePage(t, "card.md"))
	documented := codesIn(sectionsOf(inTree(t, "docs/attach.md"))["Places"], 0)
	for _, place := range codesIn(card["Places"], 0) {
		if !slices.Contains(documented, place) {
			t.Errorf("docs/attach.md has no place %s", place)
		}
	}
	run, lines := "\n"+inTree(t, "docs/one-liners.md")+inTree(t, "docs/questions.md"), codesIn(card["One-liners"], 1)
	for _, line := range lines {
		if !strings.Contains(run, "\nsonde# "+line+"\n") {
			t.Errorf("no page that is tested has %s", line)
		}
	}
	if len(lines) < 10 {
		t.Errorf("%d one-liners", len(lines))
	}
	targets, flags := inTree(t, "Makefile"), inTree(t, "qemu/*.go")
	for _, command := range codesIn(card["On your machine"], 0) {
		words := strings.Fields(command)
		if words[0] == "make" && !strings.Contains(targets, "\n"+words[1]+":") {
			t.Errorf("the Makefile has no %s", words[1])
		}
		for _, w := range words {
			if name, is := strings.CutPrefix(w, "-"); is && !strings.Contains(flags, `, "`+name+`", `) && !strings.Contains(flags, `("`+name+`", `) {
				t.Errorf("the launcher has no -%s", name)
			}
		}
	}
	var keys, are []string
	for _, m := range controlKey.FindAllStringSubmatch(card["Keys"], -1) {
		keys = append(keys, m[1])
	}
	for _, m := range controlInGo.FindAllStringSubmatch(inTree(t, "shell/line/*.go"), -1) {
		if m[1] != "I" && m[1] != "J" && m[1] != "M" { // Tab and Enter
			are = append(are, m[1])
		}
	}
	are = append(are, "Z") // of the session, not of the editor
	slices.Sort(are)
	same(t, "keys", keys, slices.Compact(are))
}
