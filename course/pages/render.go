package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A page is a page of Markdown that is being made. One that is alone is a file without any other: it has its pictures
// in it, and links to nothing in the tree.
type page struct {
	*book
	name  string
	alone bool
	wrong []error
}

// render returns the HTML of a page.
func (p *page) render(source []byte) ([]byte, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(p, 100))))
	doc := md.Parser().Parse(text.NewReader(source))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(p.link(string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = md.Renderer().Render(&out, source, doc)
	if p.alone {
		return p.within(out.Bytes()), err
	}
	p.pictures(p.name, out.Bytes())
	return out.Bytes(), err
}

// link returns where a link leads in the book: files have pages, folders stay as they are.
func (p *page) link(to string) string {
	if strings.Contains(to, ":") || strings.HasPrefix(to, "#") {
		return to
	}
	file, part, found := strings.Cut(to, "#")
	name := path.Join(path.Dir(p.name), file)
	if p.alone {
		p.wrong = append(p.wrong, fmt.Errorf("links to %s, but has to be shown without other files", file))
	} else if p.need(name) {
		to = relative(p.name, pageOf(name))
	} else if _, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(name))); err != nil {
		p.wrong = append(p.wrong, fmt.Errorf("links to %s: %w", file, err))
	} else {
		return "#" // a folder
	}
	if found {
		to += "#" + part
	}
	return to
}

// RegisterFuncs makes blocks and names of files those of the book.
func (p *page) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, p.fenced)
	r.Register(ast.KindCodeSpan, p.span)
}

// span writes a code span; the name of a file is a link to its page.
func (p *page) span(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var code strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			code.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				code.WriteByte(' ')
			}
		}
	}
	show := "<code>" + template.HTMLEscapeString(code.String()) + "</code>"
	if name := code.String(); strings.Contains(name, "/") && path.Ext(name) != "" && n.Parent().Kind() != ast.KindLink && !p.alone && p.need(name) {
		show = fmt.Sprintf("<a href=\"%s\">%s</a>", relative(p.name, pageOf(name)), show)
	}
	_, err := w.WriteString(show)
	return ast.WalkSkipChildren, err
}

// classes are the blocks of the course's pages and those of docs, by the first word after the fence.
var classes = map[string]string{"sonde": "command", "output": "output", "go": "source", "asm": "source", "text": "drawing", "drawing": "drawing"}

// fenced writes a block. A command has its prompt by the style alone, so that copying takes the command.
func (p *page) fenced(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	f := n.(*ast.FencedCodeBlock)
	head := ""
	if f.Info != nil {
		head = string(f.Info.Segment.Value(source))
	}
	var body strings.Builder
	for i := range f.Lines().Len() {
		at := f.Lines().At(i)
		body.Write(at.Value(source))
	}
	kind, _, _ := strings.Cut(head, " ")
	class := classes[kind]
	fmt.Fprintf(w, "<figure class=\"%s\">", class)
	if caption := p.caption(head, body.String()); caption != "" {
		fmt.Fprintf(w, "<figcaption>%s</figcaption>", caption)
	}
	if class == "command" {
		if strings.HasPrefix(body.String(), launcher) {
			class = "host"
		}
		fmt.Fprintf(w, "<pre tabindex=\"0\" class=\"%s\">", class)
		command := "" // its lines until now
		for line := range strings.Lines(body.String()) {
			if command == "" {
				w.WriteString("<code>")
			} else {
				w.WriteString("<code class=\"more\">")
			}
			fmt.Fprintf(w, "%s</code>", template.HTMLEscapeString(line))
			if command += line; !unfinished(command) {
				command = ""
			}
		}
		w.WriteString("</pre>")
	} else {
		fmt.Fprintf(w, "<pre tabindex=\"0\"><code>%s</code></pre>", template.HTMLEscapeString(body.String()))
	}
	_, err := w.WriteString("</figure>\n")
	return ast.WalkSkipChildren, err
}

var (
	fileOf = regexp.MustCompile(`\bfile=(\S+)`)
	smpOf  = regexp.MustCompile(`\bsmp=(\d+)`)
)

var (
	quoted = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"|\\[^\n]`)
	opened = regexp.MustCompile(`(?m)(?:^|[;|&]|\b(?:do|then|else)\s)\s*(?:while|until|for|if|case)\s`)
	closed = regexp.MustCompile(`(?m)(?:^|;)\s*(?:done|fi|esac)\b`)
)

// unfinished reports whether the shell would ask for another line of a command: a quote, a line, a loop or a case is not
// at its end.
func unfinished(command string) bool {
	rest := quoted.ReplaceAllString(command, "x")
	return strings.ContainsAny(rest, `'"`) || strings.HasSuffix(rest, "\\\n") || len(opened.FindAllString(rest, -1)) > len(closed.FindAllString(rest, -1))
}

// launcher begins a command of the host.
const launcher = "go run ./qemu "

// caption says where a block is from: the file, at the line where it begins, or the machine.
func (p *page) caption(head, body string) string {
	if m := smpOf.FindStringSubmatch(head); m != nil && m[1] != "1" {
		return m[1] + " CPUs"
	}
	m := fileOf.FindStringSubmatch(head)
	if m == nil {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(m[1])))
	body, _, _ = strings.Cut(body, "…\n")
	at := strings.Index("\n"+string(text), "\n"+body)
	if err != nil || at < 0 || !p.alone && !p.need(m[1]) {
		p.wrong = append(p.wrong, fmt.Errorf("a block says that it is from %s, which does not have it (%v)", m[1], err))
		return ""
	}
	line := strings.Count(string(text[:at]), "\n") + 1
	if path.Ext(m[1]) == ".md" && p.alone {
		return "" // readers of slides need not know which page has it, too
	} else if p.alone {
		return fmt.Sprintf("%s:%d", template.HTMLEscapeString(m[1]), line)
	}
	to := relative(p.name, pageOf(m[1]))
	if path.Ext(m[1]) != ".md" {
		to += fmt.Sprintf("#L%d", line)
	}
	return fmt.Sprintf("<a href=\"%s\">%s</a>", to, template.HTMLEscapeString(m[1]))
}
