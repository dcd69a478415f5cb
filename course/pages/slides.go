package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	_ "embed"
)

const (
	decks       = "course/slides"
	slidesTitle = "Instrumenting a running kernel: the lectures"
	slidesAbout = "A file for each lecture, which needs no other. Press ? in one for its keys. Every output is what the kernel prints, and a test compares them."
)

var (
	//go:embed slides.html
	deckText string
	//go:embed slides.css
	deckStyle string
	//go:embed slides.js
	deckScript string

	deckFrame = template.Must(template.New("deck").Parse(deckText))
)

// A slide is a part of a deck: what is shown, and what the speaker reads.
type slide struct {
	Show, Notes template.HTML
	Live        bool // it has a command to type; its output comes with a key
}

// makeSlides writes a file for each deck, and an index, and returns how many decks there are.
//
// Errors: there is no deck; a deck links to a file, or quotes lines that are not there; a folder cannot be written.
func makeSlides(root, out string) (int, error) {
	b := &book{root: root, out: out, known: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(root, decks, "[0-9][0-9]-*.md"))
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("no slides in %s", filepath.Join(root, decks))
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return 0, err
		}
		name := strings.TrimSuffix(filepath.Base(f), ".md")
		title, about := opening(string(text))
		number, _, _ := strings.Cut(name, "-")
		c := chapter{path.Join(decks, name+".md"), name + ".html", strings.TrimLeft(number, "0") + ". " + title, about}
		if err := b.makeDeck(c, string(text)); err != nil {
			return 0, fmt.Errorf("%s: %w", c.File, err)
		}
		b.chapters = append(b.chapters, c)
	}
	return len(files), b.writeIndex(slidesTitle, slidesAbout, nil)
}

// makeDeck writes the file of a deck.
func (b *book) makeDeck(c chapter, text string) error {
	var all []slide
	for _, part := range parts(text) {
		shown, notes, _ := strings.Cut(part, "\nNote:\n")
		p := &page{book: b, name: c.File, alone: true}
		show, err := p.render([]byte(shown))
		said, errNotes := p.render([]byte(notes))
		if err := errors.Join(err, errNotes, errors.Join(p.wrong...)); err != nil {
			return err
		}
		all = append(all, slide{template.HTML(show), template.HTML(said), bytes.Contains(show, []byte(`<figure class="command">`))})
	}
	var out bytes.Buffer
	err := deckFrame.Execute(&out, map[string]any{"Title": c.Title, "Style": template.CSS(deckStyle), "Script": template.JS(deckScript), "Slides": all,
		"Minutes": minutes.FindString(c.About)})
	if err != nil {
		return err
	}
	return b.write(c.Page, out.Bytes())
}

// minutes is how long a deck takes, in its first paragraph.
var minutes = regexp.MustCompile(`\d+ minutes`)

// parts returns the slides of a deck: a line --- that is in no block begins another one.
func parts(text string) (all []string) {
	var part strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			inside = !inside
		}
		if line == "---\n" && !inside {
			all = append(all, part.String())
			part.Reset()
			continue
		}
		part.WriteString(line)
	}
	return append(all, part.String())
}

// within puts the pictures that a page shows into it.
func (p *page) within(html []byte) []byte {
	return picture.ReplaceAllFunc(html, func(src []byte) []byte {
		name := path.Join(path.Dir(p.name), string(picture.FindSubmatch(src)[1]))
		text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
		if err != nil || path.Ext(name) != ".svg" {
			p.wrong = append(p.wrong, fmt.Errorf("shows %s, which is not a drawing that can be read (%v)", name, err))
		}
		return fmt.Appendf(nil, `src="data:image/svg+xml;base64,%s"`, base64.StdEncoding.EncodeToString(text))
	})
}
