package main

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const deckOfTwo = "# A\n\n50 minutes.\n\nNote:\n\nSay it.\n\n---\n\n## B\n\n" + fence + "sonde file=c.md\nls\n" + fence + "\n\n" + fence + "output file=c.md\nx\n---\ny\n" + fence +
	"\n\n`k/f.go` ![words](../../p.svg)\n\nNote:\n\nType it.\n"

func TestMakeSlides(t *testing.T) {
	root := write(t, map[string]string{"course/slides/01-a.md": deckOfTwo, "c.md": "ls\nx\n---\ny\n", "p.svg": "<svg/>", "k/f.go": "package k\n"})
	out := t.TempDir()
	n, err := makeSlides(root, out)
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	text, err := os.ReadFile(filepath.Join(out, "01-a.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{`<title>1. A</title>`, `data-minutes="50 minutes"`, `class="live"`, "<p>Type it.</p>", "x\n---\ny\n", `src="data:image/svg+xml;base64,PHN2Zy8&#43;"`, "<code>k/f.go</code>"} {
		if !strings.Contains(html.UnescapeString(string(text)), html.UnescapeString(w)) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
	if got := bytes.Count(text, []byte("<section")); got != 2 {
		t.Errorf("%d slides", got)
	}
	index, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil || !strings.Contains(string(index), `<a href="01-a.html">1. A</a>`) {
		t.Errorf("%v\n%s", err, index)
	}
}

func TestSlidesThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": "no slides", "# A\n\n[x](../y.md)\n": "without other files", "# A\n\n![x](none.svg)\n": "not a drawing",
		"# A\n\n" + fence + "go file=none.go\nx\n" + fence + "\n": "is from none.go",
	} {
		files := map[string]string{"course/slides/01-a.md": text}
		if text == "" {
			files = map[string]string{"README.md": ""}
		}
		if _, err := makeSlides(write(t, files), t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestSlidesFit makes the decks of this tree, and looks at each slide in windows of two sizes, in brief at those of every
// third deck: nothing goes beyond its edges, what a command prints comes with a key, no text is too small to be read from
// the back, and nothing is loaded from elsewhere.
func TestSlidesFit(t *testing.T) {
	out := t.TempDir()
	if _, err := makeSlides(filepath.Join("..", ".."), out); err != nil {
		t.Fatal(err)
	}
	decks, err := filepath.Glob(filepath.Join(out, "[0-9]*.html"))
	if err != nil || len(decks) == 0 {
		t.Fatal(decks, err)
	}
	for _, d := range decks {
		text, err := os.ReadFile(d)
		if m := elsewhere.Find(text); m != nil || err != nil {
			t.Errorf("%s loads something: %s, %v", filepath.Base(d), m, err)
		}
	}
	if chromium() == "" {
		t.Skip("skipped: there is no Chromium to look at the slides")
	}
	shown := decks
	if brief() {
		shown = slices.DeleteFunc(slices.Clone(decks), func(d string) bool { return (filepath.Base(d)[1]-'0')%3 != 0 })
	}
	for _, why := range misfits(t, out, shown) {
		t.Error(why)
	}
	printed(t, decks[0])
}

var elsewhere = regexp.MustCompile(`(?:src|srcset)="(?:https?:)?//|url\(|@import|<script src|<link`)

// sizes of windows, and measures, which says for each slide of the deck in one what does not fit.
var sizes = [][2]int{{1280, 720}, {1920, 1080}}

const measures = `<script>
slides.forEach((s, i) => {
  let said = 0;
  show(i, false);
  const parts = hidden().length, shown = () => [...s.querySelectorAll(".later")].filter(e => getComputedStyle(e).visibility === "visible").length;
  if (s.matches(".live") && parts === 0 || shown() > 0) said++, parent.report("slide " + (i + 1) + ": what the command prints is not hidden: " + document.title);
  if (parts > 0) dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  if (parts > 0 && shown() !== 1) said++, parent.report("slide " + (i + 1) + ": the key shows nothing: " + document.title);
  show(i, true);
  const d = s.querySelector(".slide"), edge = d.getBoundingClientRect(), unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 20;
  const say = why => said++ < 3 && parent.report(innerWidth + " " + document.title + ", slide " + (i + 1) + " (" + heading(s) + "): " + why);
  if (edge.left < -1 || edge.top < -1 || edge.right > innerWidth + 1 || edge.bottom > innerHeight + 1) say("the slide is larger than the window");
  for (const e of d.querySelectorAll("*")) {
    const b = e.getBoundingClientRect(), name = e.tagName + " " + e.textContent.trim().slice(0, 40);
    if (b.bottom > edge.bottom - 20 * unit || b.right > edge.right - 20 * unit) say("goes beyond the edge by " + Math.round(Math.max(b.bottom - edge.bottom, b.right - edge.right) / unit + 20) + ": " + name);
    if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0) say("is wider than its box by " + (e.scrollWidth - e.clientWidth) + ": " + name);
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (own && parseFloat(getComputedStyle(e).fontSize) < 17.99 * unit) say("is smaller than 18 pixels: " + name);
  }
});
</script>`

// misfits says what does not fit on the slides of decks, which are files in the folder out.
func misfits(t *testing.T, out string, decks []string) []string {
	t.Helper()
	return looked(t, out, decks, measures, sizes...)
}

// printed: paper has a page for each slide.
func printed(t *testing.T, deck string) {
	t.Helper()
	text, err := os.ReadFile(deck)
	if err != nil {
		t.Fatal(err)
	}
	pdf := deck + ".pdf"
	if _, err := browse("--no-pdf-header-footer", "--print-to-pdf="+pdf, "file://"+deck); err != nil {
		t.Fatal(err)
	}
	paper, err := os.ReadFile(pdf)
	if got, want := bytes.Count(paper, []byte("/Type /Page\n")), bytes.Count(text, []byte("<section")); err != nil || got != want {
		t.Errorf("%s: %d pages for %d slides, %v", filepath.Base(deck), got, want, err)
	}
}

// TestMisfitsAreFound: slides that do not fit are found, for each reason.
func TestMisfitsAreFound(t *testing.T) {
	if chromium() == "" {
		t.Skip("skipped: there is no Chromium to look at the slides")
	}
	long := strings.Repeat("- a line\n", 40)
	root := write(t, map[string]string{
		"course/slides/01-a.md": "# Long\n\n" + long, "course/slides/02-b.md": "# Wide\n\n" + fence + "text drawing\n" + strings.Repeat("x", 200) + "\n" + fence + "\n",
		"course/slides/03-c.md": "# Small\n\n<p style=\"font-size:10px\">small</p>\n", "course/slides/04-d.md": "# Good\n\nwords\n",
	})
	out := t.TempDir()
	if _, err := makeSlides(root, out); err != nil {
		t.Fatal(err)
	}
	decks, err := filepath.Glob(filepath.Join(out, "[0-9]*.html"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(misfits(t, out, decks), "\n")
	for _, want := range []string{"1280 1. Long, slide 1 (Long): goes beyond", "1920 1. Long", "1280 2. Wide, slide 1 (Wide): is wider", "3. Small, slide 1 (Small): is smaller than 18"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "Good") || strings.Contains(got, "looked at") {
		t.Error(got)
	}
}
