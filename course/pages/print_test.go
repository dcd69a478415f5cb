package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// brief reports whether only what make test has time for is to run: see the Makefile.
func brief() bool { return os.Getenv("SONDE_BRIEF") != "" }

// TestPrint makes the PDFs: the book's, if there is time, and the reference card, which has two pages.
func TestPrint(t *testing.T) {
	if chromium() == "" {
		t.Skip("skipped: there is no Chromium")
	}
	out := t.TempDir()
	if _, err := makeBook(filepath.Join("..", ".."), out); err != nil {
		t.Fatal(err)
	}
	for i, limits := range [][2]int{{40, 1000}, {2, 2}} { // as pdfs has them
		if brief() && i == 0 {
			continue
		}
		pdf, err := print(out, pdfs[i].page, pdfs[i].as)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(pdf)
		if pages := bytes.Count(text, []byte("/Type /Page\n")); err != nil || pages < limits[0] || pages > limits[1] {
			t.Errorf("%s has %d pages, %v", pdfs[i].as, pages, err)
		} else {
			t.Logf("%s: %d pages", pdfs[i].as, pages)
		}
	}
	narrow(t, out)
}

// narrow: no chapter is wider than a telephone. What is too wide for it is in a block that scrolls by itself.
func narrow(t *testing.T, out string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(out, filepath.FromSlash(folder), "*.html"))
	if err != nil || len(pages) < 3 {
		t.Fatal(pages, err)
	}
	const wide = `<script>if (document.documentElement.scrollWidth !== innerWidth) parent.report(document.title + ": " + document.documentElement.scrollWidth + " pixels wide in a window of " + innerWidth)</script>`
	for _, why := range looked(t, out, append(pages, filepath.Join(out, "index.html")), wide, [2]int{360, 800}) {
		t.Error(why)
	}
}

// looked shows pages in windows of these sizes, and returns what a script at the end of each reports. Chromium's own
// window may be larger than is asked for, so each page is in a frame.
func looked(t *testing.T, out string, pages []string, script string, sizes ...[2]int) (all []string) {
	t.Helper()
	frames := bytes.NewBufferString(`<meta charset="utf-8"><ul></ul><script>function report(s) { const e = document.createElement("li"); e.textContent = s; document.querySelector("ul").append(e); }</script>` + "\n")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		inner := page + ".inner.html"
		if err := os.WriteFile(inner, []byte(strings.Replace(string(text), "</body>", script+`<script>parent.report("done")</script></body>`, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(out, inner)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range sizes {
			fmt.Fprintf(frames, "<iframe width=%d height=%d style=\"border:0\" src=%q></iframe>\n", size[0], size[1], name)
		}
	}
	frame := filepath.Join(out, "frames.html")
	if err := os.WriteFile(frame, frames.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	dom, err := browse("--allow-file-access-from-files", "--virtual-time-budget=60000", "--dump-dom", "file://"+frame)
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, m := range reported.FindAllSubmatch(dom, -1) {
		if string(m[1]) == "done" {
			done++
		} else {
			all = append(all, html.UnescapeString(string(m[1])))
		}
	}
	if done != len(pages)*len(sizes) {
		all = append(all, fmt.Sprintf("%d of %d pages were looked at", done, len(pages)*len(sizes)))
	}
	return all
}

var reported = regexp.MustCompile(`<li>([^<]*)</li>`)
