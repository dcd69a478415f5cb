package replay

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
)

var (
	//go:embed page.html
	pageSource string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
	//go:embed tour.md
	tourText string
)

var page = template.Must(template.New("page").Parse(pageSource))

// shownKind is a Kind with what the page has of it.
type shownKind struct {
	Kind
	Fragment template.HTML
	Raw      json.RawMessage
}

// Page writes all recordings as one page, which needs nothing else: its policy forbids it to load anything.
func Page(w io.Writer) error {
	var kinds []shownKind
	for _, k := range Kinds {
		v, err := Read(k.JSON())
		if err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
		var b strings.Builder
		if err := v.HTML(&b); err != nil {
			return err
		}
		kinds = append(kinds, shownKind{k, template.HTML(b.String()), k.JSON()})
	}
	css, js := CSS+pageCSS, JS+pageJS
	return page.Execute(w, map[string]any{
		"Policy": fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", digest(css), digest(js)),
		"CSS":    template.CSS(css), "JS": template.JS(js), "Kinds": kinds, "Tour": tour(tourText),
	})
}

// digest names what a policy allows.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// A stop of the tour is what is said of a frame of the recording step.
type stop struct {
	Title string
	Text  template.HTML
}

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	stress = regexp.MustCompile(`\*([^*]+)\*`)
)

// tour reads tour.md, whose headings of the second level are the stops.
func tour(text string) (stops []stop) {
	for _, part := range strings.Split(text, "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		var b strings.Builder
		for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
			p = quoted.ReplaceAllString(template.HTMLEscapeString(p), "<code>$1</code>")
			fmt.Fprintf(&b, "<p>%s</p>\n", stress.ReplaceAllString(p, "<em>$1</em>"))
		}
		stops = append(stops, stop{title, template.HTML(b.String())})
	}
	return stops
}
