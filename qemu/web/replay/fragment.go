package replay

import (
	_ "embed"
	"html/template"
	"io"
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

var fragment = template.Must(template.New("").Parse(fragmentSource))

// HTML writes v as a fragment, which has all frames.
func (v *View) HTML(w io.Writer) error { return fragment.ExecuteTemplate(w, "replay", v) }
