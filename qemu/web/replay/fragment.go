package replay

import (
	_ "embed"
	"html/template"
	"io"
	"regexp"
)

//go:embed fragment.html
var fragmentSource string

// CSS is the style of fragments, and JS what steps through them: replay(box, options) in replay.js.
var (
	//go:embed replay.css
	CSS string
	//go:embed replay.js
	JS string
)

var (
	// hooks say which value an element has; only page.js needs them, to fill in an empty fragment.
	hooks    = regexp.MustCompile(` data-(t|each|if|c)="[^"]*"`)
	fragment = template.Must(template.New("").Parse(hooks.ReplaceAllString(fragmentSource, "")))
	empty    = template.Must(template.New("").Parse(fragmentSource))
)

// HTML writes v as a fragment, which has all frames.
func (v *View) HTML(w io.Writer) error { return fragment.ExecuteTemplate(w, "replay", v) }

// hollow writes a fragment with one element in each list, and the hooks.
func hollow(w io.Writer) error {
	return empty.ExecuteTemplate(w, "replay", &View{CPUs: []string{""}, Frames: []Frame{{
		Rows: []Row{{Cells: []Cell{{}}}}, Regs: []Reg{{}}, Stack: []Word{{}}, Lanes: []Lane{{}},
	}}})
}
