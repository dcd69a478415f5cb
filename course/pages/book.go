package main

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	_ "embed"
)

// A book is the pages that are made, and the files that are still to be. Paths begin at the tree's root and have
// slashes.
type book struct {
	root, out string
	chapters  []chapter
	known     map[string]bool
	queue     []string
}

type chapter struct {
	File, Page   string
	Title, About string // heading and first paragraph
}

const (
	folder    = "course/book"
	porting   = "course/porting.md" // appendix A; the others are in the folder
	card      = "course/card.md"    // the last one, to be printed alone
	bookTitle = "Instrumenting a running kernel"
	bookAbout = "A book about probes, in a kernel that is small enough to be read. Every output in it is what the kernel prints, and a test compares them."
)

var (
	//go:embed style.css
	style string
	//go:embed page.html
	frame string
	//go:embed index.html
	front string

	pageFrame  = template.Must(template.New("page").Parse(frame))
	indexFrame = template.Must(template.New("index").Parse(front))
)

// makeBook writes the book, and returns how many pages it has.
//
// Errors: there is no chapter; a page names a file that is not there; a folder cannot be written.
func makeBook(root, out string) (int, error) {
	b := &book{root: root, out: out, known: map[string]bool{}}
	files, err1 := filepath.Glob(filepath.Join(root, folder, "[0-9]*-*.md"))
	letters, err2 := filepath.Glob(filepath.Join(root, folder, "[b-e]-*.md"))
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("no chapters in %s", filepath.Join(root, folder))
	}
	for _, f := range files {
		c, err := b.begin(path.Join(folder, filepath.Base(f)))
		if err != nil {
			return 0, err
		}
		b.chapters = append(b.chapters, c)
	}
	names := []string{porting}
	for _, f := range letters {
		names = append(names, path.Join(folder, filepath.Base(f)))
	}
	var appendices []chapter
	for _, name := range append(names, card) {
		if !b.need(name) {
			continue
		}
		c, err := b.begin(name)
		if err != nil {
			return 0, err
		}
		appendices = append(appendices, c)
	}
	for len(b.queue) > 0 {
		name := b.queue[0]
		b.queue = b.queue[1:]
		if err := b.make(name); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := b.writeWhole(appendices); err != nil {
		return 0, err
	}
	return len(b.known), b.writeIndex(bookTitle, bookAbout, appendices)
}

// writeIndex writes the page that leads to all others.
func (b *book) writeIndex(title, about string, appendices []chapter) error {
	var index bytes.Buffer
	if err := indexFrame.Execute(&index, map[string]any{"Style": template.CSS(style), "Title": title, "About": about, "Chapters": b.chapters, "Appendices": appendices}); err != nil {
		return err
	}
	return b.write("index.html", index.Bytes())
}

// begin asks for the page of a chapter, and returns what the index says of it.
func (b *book) begin(name string) (chapter, error) {
	text, err := os.ReadFile(filepath.Join(b.root, filepath.FromSlash(name)))
	if err != nil {
		return chapter{}, err
	}
	b.need(name)
	title, about := opening(string(text))
	return chapter{name, pageOf(name), title, about}, nil
}

// marks are taken out where text is shown as it is.
var marks = strings.NewReplacer("`", "", "*", "")

// opening returns a page's heading and its first paragraph, as one line.
func opening(text string) (title, about string) {
	text = strings.TrimLeft(text, "\n")
	title, rest, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	about, _, _ = strings.Cut(strings.TrimLeft(rest, "\n"), "\n\n")
	return title, marks.Replace(strings.Join(strings.Fields(about), " "))
}

// pageOf is where the page of a file is.
func pageOf(name string) string {
	if trunk, found := strings.CutSuffix(name, ".md"); found {
		return trunk + ".html"
	}
	if slices.Contains(asTheyAre, path.Ext(name)) {
		return name
	}
	return name + ".html"
}

// asTheyAre are files that browsers show.
var asTheyAre = []string{".svg", ".png"}

// need asks for the page of a file, and reports whether there is such a file.
func (b *book) need(name string) bool {
	if info, err := os.Stat(filepath.Join(b.root, filepath.FromSlash(name))); err != nil || info.IsDir() || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	if !b.known[name] {
		b.known[name], b.queue = true, append(b.queue, name)
	}
	return true
}

func (b *book) write(name string, text []byte) error {
	to := filepath.Join(b.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// make writes the page of a file.
func (b *book) make(name string) error {
	text, err := os.ReadFile(filepath.Join(b.root, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	p := &page{book: b, name: name}
	var body []byte
	title := name
	switch {
	case slices.Contains(asTheyAre, path.Ext(name)):
		return b.write(name, text)
	case path.Ext(name) == ".md":
		title, _ = opening(string(text))
		body, err = p.render(text)
	default:
		body = listing(name, string(text))
	}
	if err := errors.Join(err, errors.Join(p.wrong...)); err != nil {
		return err
	}
	var all bytes.Buffer
	if err := pageFrame.Execute(&all, b.around(name, title, body)); err != nil {
		return err
	}
	return b.write(pageOf(name), all.Bytes())
}

// around is what the frame of a page shows besides it.
func (b *book) around(name, title string, body []byte) map[string]any {
	m := map[string]any{"Style": template.CSS(style), "Title": title, "Body": template.HTML(body), "Home": relative(name, "index.html"), "Card": name == card}
	i := slices.IndexFunc(b.chapters, func(c chapter) bool { return c.File == name })
	if i > 0 {
		m["Before"], m["BeforeIs"] = relative(name, b.chapters[i-1].Page), b.chapters[i-1].Title
	}
	if i >= 0 && i+1 < len(b.chapters) {
		m["Next"], m["NextIs"] = relative(name, b.chapters[i+1].Page), b.chapters[i+1].Title
	}
	return m
}

// relative is the way from the page of one file to a page.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// listing is the page of a file of source: each line can be linked to.
func listing(name, text string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<h1 class=\"file\">%s</h1>\n<pre class=\"listing\">", template.HTMLEscapeString(name))
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "<span id=\"L%d\" class=\"line\">%s\n</span>", i+1, template.HTMLEscapeString(line))
	}
	b.WriteString("</pre>\n")
	return b.Bytes()
}

var picture = regexp.MustCompile(`\b(?:src|srcset)="([^":]+)"`)

// pictures asks for the pictures that HTML in a page shows.
func (b *book) pictures(name string, html []byte) {
	for _, m := range picture.FindAllSubmatch(html, -1) {
		b.need(path.Join(path.Dir(name), string(m[1])))
	}
}
