package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// write writes files into a new folder, by path.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const fence = "```"

func TestMakeBook(t *testing.T) {
	root := write(t, map[string]string{
		"course/book/00-a.md": "# 0. A <b>\n\nThe *first* `page`\nsays this.\n\n[docs](../../docs/d.md#x) and `k/f.go` and `k/`, [k](../../k)\n\n" +
			fence + "sonde run smp=2\nls <x>\nbt -e 'x\n y' \\\n -c 'a;b'\nwhile read x; do\n echo \"it's\"\ndone\nps\n" + fence + "\n\n" + fence + "go file=k/f.go\nvar x int\n" + fence + "\n",
		"course/book/01-b.md": "# 1. B\n\n| a |\n|---|\n| 1 |\n",
		"course/book/doc.go":  "package book\n",
		"course/porting.md":   "# C to Go\n\nA table.\n",
		"docs/d.md":           "# D\n\n## X\n\n<picture><img src=\"p/q.svg\"></picture>\n\n" + fence + "output TestX\n1\n" + fence + "\n",
		"docs/p/q.svg":        "<svg/>",
		"k/f.go":              "package k\n\nvar x int\n",
	})
	out := t.TempDir()
	n, err := makeBook(root, out)
	if err != nil || n != 6 {
		t.Fatal(n, err)
	}
	for name, words := range map[string][]string{
		"index.html":            {`<a href="course/book/00-a.html">0. A &lt;b&gt;</a>`, "The first page says this.", `<a href="course/porting.html">C to Go</a>`},
		"course/book/00-a.html": {`href="../../docs/d.html#x"`, `<a href="../../k/f.go.html"><code>k/f.go</code></a>`, "<code>ls &lt;x&gt;\n</code><code>bt -e &#39;x\n</code><code class=\"more\"> y&#39; \\\n</code><code class=\"more\"> -c &#39;a;b&#39;\n</code><code>while read x; do\n</code><code class=\"more\"> echo &#34;it&#39;s&#34;\n</code><code class=\"more\">done\n</code><code>ps\n</code>", "2 CPUs", `href="../../k/f.go.html#L3"`, `rel="next" href="../../course/book/01-b.html"`},
		"course/book/01-b.html": {"<table>", `rel="prev"`},
		"docs/d.html":           {`class="output"`, `id="x"`},
		"docs/p/q.svg":          {"<svg/>"},
		"k/f.go.html":           {`<span id="L3" class="line">var x int`},
	} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
		}
		for _, w := range words {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s does not have %q\n%s", name, w, text)
			}
		}
	}
}

func TestBooksThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": "no chapters", "# 0\n\n[x](none.md)\n": "links to none.md", "# 0\n\n" + fence + "go file=none.go\nx\n" + fence + "\n": "is from none.go",
	} {
		files := map[string]string{"course/book/00-a.md": text}
		if text == "" {
			files = map[string]string{"README.md": ""}
		}
		if _, err := makeBook(write(t, files), t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

var (
	refers = regexp.MustCompile(`(?:href|src|srcset)="([^"]*)"`)
	loads  = regexp.MustCompile(`(?:src|srcset)="(?:https?:)?//|url\(|@import|<script|<link`)
)

// TestTheBook makes the book of this tree: each link within it leads somewhere, and nothing is loaded from elsewhere.
func TestTheBook(t *testing.T) {
	out := t.TempDir()
	if _, err := makeBook(filepath.Join("..", ".."), out); err != nil {
		t.Fatal(err)
	}
	pages := 0
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		pages++
		text, err := os.ReadFile(path)
		head, _, _ := strings.Cut(string(text), "<main>")
		if m := loads.FindString(string(text)); m != "" && !strings.Contains(string(text), `class="listing"`) || strings.Contains(head, "url(") {
			t.Errorf("%s loads something: %s", path, m)
		}
		for _, m := range refers.FindAllStringSubmatch(string(text), -1) {
			to, part, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], ":") || strings.Contains(string(text), `class="listing"`) && !strings.HasSuffix(m[1], ".html") {
				continue
			}
			at := path
			if to != "" {
				at = filepath.Join(filepath.Dir(path), to)
			}
			if there, err := os.ReadFile(at); err != nil || part != "" && !strings.Contains(string(there), `id="`+part+`"`) {
				t.Errorf("%s: link to %s: %v", path, m[1], err)
			}
		}
		return err
	})
	if err != nil || pages < 3 {
		t.Errorf("%d pages, %v", pages, err)
	}
}

// TestStudentsBook: no chapter needs what a class does not get.
func TestStudentsBook(t *testing.T) {
	gone := regexp.MustCompile(`(?:file=|\]\([./]*)(?:course/)?(?:solutions|slides|hidden|wrong|\S+_test\.go|INSTRUCTOR)`)
	files, _ := filepath.Glob(filepath.Join("..", "book", "*.md"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if m := gone.Find(text); m != nil || err != nil {
			t.Errorf("%s: %s, %v", f, m, err)
		}
	}
}
