package book

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sonde/course/blocks"
)

const decks = "../slides"

// checked are the pages whose blocks and figures are checked: chapters, appendices, solutions, and slides.
func checked(t *testing.T) []page {
	return slices.Concat(chapters(t), appendices(t), pagesOf(t, solutions), pagesOf(t, decks))
}

// TestQuotedOutputs: a slide that quotes a command and what it prints has both from the same place of a chapter.
func TestQuotedOutputs(t *testing.T) {
	for _, p := range pagesOf(t, decks) {
		if *update {
			p.requote(t)
			continue
		}
		for _, why := range p.misquoted(pageAt(t)) {
			t.Error(why)
		}
	}
}

// requote writes quoted outputs as the chapters have them now. TestOutputs has updated these before.
func (p page) requote(t *testing.T) {
	t.Helper()
	lines, blocksOf := strings.Split(p.text, "\n"), pageAt(t)
	var command blocks.Block
	for _, b := range p.blocks {
		if b.Kind() == "sonde" {
			command = b
		} else if b.Kind() == "output" && b.Option("file") != "" && command.Option("file") != "" {
			for _, text := range said(blocksOf(command.Option("file")), command) {
				copy(lines[b.Line:], b.Renew(text))
			}
		}
	}
	if err := os.WriteFile(filepath.Join(p.dir, p.name), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Error(err)
	}
}

// pageAt returns what reads the blocks of a page, by its path.
func pageAt(t *testing.T) func(path string) []blocks.Block {
	read := map[string][]blocks.Block{}
	return func(path string) []blocks.Block {
		if read[path] == nil {
			for _, p := range pagesOf(t, filepath.Join(root, filepath.Dir(path))) {
				read[filepath.Join(filepath.Dir(path), p.name)] = p.blocks
			}
		}
		return read[path]
	}
}

// misquoted says which quoted outputs are not those of the quoted commands before them.
func (p page) misquoted(blocksOf func(path string) []blocks.Block) (all []string) {
	var command blocks.Block
	for _, b := range p.blocks {
		switch {
		case b.Kind() == "sonde":
			command = b
		case b.Kind() == "output" && b.Option("file") != "" && command.Option("file") != "":
			if !slices.ContainsFunc(said(blocksOf(command.Option("file")), command), b.In) {
				all = append(all, b.String()+": this is not what the chapter shows of the command before it")
			}
		case b.Kind() == "output" && b.Option("file") == "" && command.Option("file") != "":
			all = append(all, b.String()+": a quoted command is not run, so its output has to be quoted, too")
		}
	}
	return all
}

// said returns the texts of the outputs after a command, in the blocks of the page that it is quoted from.
func said(page []blocks.Block, command blocks.Block) (all [][]string) {
	found := false
	for _, b := range page {
		if b.Kind() == "sonde" {
			found = command.In(b.Text)
		} else if found && b.Kind() == "output" {
			all = append(all, b.Text)
		}
	}
	return all
}

func TestMisquotedOutputsAreFound(t *testing.T) {
	chapter := blocks.Read("c.md", "```sonde run\na\nb\n```\n```output match=exact\n1\n2\n```\n```sonde run\nc\n```\n```output match=exact\n3\n```\n")
	for slide, want := range map[string]string{
		"```sonde file=c.md\na\n```\n```output file=c.md\n2\n```\n":      "",
		"```sonde file=c.md\nc\n```\n```output file=c.md\n2\n```\n":      "s.md:4: this is not what",
		"```sonde file=c.md\na\n```\n```output match=exact\n2\n```\n":    "s.md:4: a quoted command is not run",
		"```output file=c.md\n3\n```\n```sonde file=c.md\nc\n```\n":      "",
		"```sonde run\nc\n```\n```output match=exact\n3\n```\n":          "",
		"```sonde file=c.md\na\nc\n```\n```output file=c.md\n1\n```\n\n": "s.md:5: this is not what",
	} {
		p := page{blocks: blocks.Read("s.md", slide)}
		got := strings.Join(p.misquoted(func(string) []blocks.Block { return chapter }), "\n")
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", slide, got, want)
		}
	}
}

// lengthOf are the slides that a lecture of fifty minutes may have.
var lengthOf = [2]int{8, 30}

// TestDecks: each deck can be held, and each of its slides has words for the speaker.
func TestDecks(t *testing.T) {
	for _, p := range pagesOf(t, decks) {
		for _, why := range p.badDeck() {
			t.Errorf("%s: %s", p.name, why)
		}
	}
}

// badDeck says what a deck lacks.
func (p page) badDeck() (all []string) {
	parts := strings.Split(p.text, "\n---\n")
	if len(parts) < lengthOf[0] || len(parts) > lengthOf[1] {
		all = append(all, "too few slides, or too many, for a lecture")
	}
	if !strings.HasPrefix(parts[0], "# ") || !strings.Contains(parts[0], " minutes") {
		all = append(all, "the first slide has no title, or does not say how many minutes")
	}
	for _, s := range parts {
		title, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
		_, notes, _ := strings.Cut(s, "\nNote:\n")
		if !strings.HasPrefix(title, "#") || strings.TrimSpace(notes) == "" {
			all = append(all, "no heading, or no notes: "+title)
		}
	}
	if !hasBlock(p.text, "sonde") {
		all = append(all, "nothing is shown live")
	}
	return all
}

func TestBadDecksAreFound(t *testing.T) {
	good := pagesOf(t, decks)[0]
	for change, want := range map[[2]string]string{
		{"\n---\n", "\n"}:       "too few slides",
		{"minutes", "moments"}:  "how many minutes",
		{"\nNote:\n", "\n"}:     "no notes",
		{"```sonde", "```text"}: "nothing is shown live",
	} {
		bad := page{text: strings.ReplaceAll(good.text, change[0], change[1])}
		if got := strings.Join(bad.badDeck(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", change, got, want)
		}
	}
}
