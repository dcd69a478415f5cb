package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
)

// whole is the page with all chapters, for printing.
const whole = folder + "/whole"

// writeWhole writes a page with all chapters and appendices of the book's folder, one after the other.
func (b *book) writeWhole(appendices []chapter) error {
	var all bytes.Buffer
	for _, c := range slices.Concat(b.chapters, appendices) {
		if path.Dir(c.File) != folder {
			continue
		}
		text, err := os.ReadFile(filepath.Join(b.root, filepath.FromSlash(c.File)))
		if err != nil {
			return err
		}
		body, err := (&page{book: b, name: c.File}).render(text)
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "<section class=\"chapter\">\n%s</section>\n", body)
	}
	var out bytes.Buffer
	if err := pageFrame.Execute(&out, map[string]any{"Style": template.CSS(style), "Title": bookTitle, "Body": template.HTML(all.String()), "Home": relative(whole, "index.html")}); err != nil {
		return err
	}
	return b.write(whole+".html", out.Bytes())
}

// chromium returns the name of the browser, "" if there is none.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// browse runs Chromium without a window, and returns what it prints.
func browse(args ...string) ([]byte, error) {
	args = append([]string{"--headless", "--disable-gpu", "--hide-scrollbars"}, args...)
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...) // it refuses otherwise
	}
	cmd := exec.Command(chromium(), args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	return out, err
}

// print makes a PDF of a page, as a file in the folder of the book, which lies at out.
//
// Errors: those of Chromium.
func print(out, page, as string) (pdf string, err error) {
	if out, err = filepath.Abs(out); err != nil {
		return "", err
	}
	pdf = filepath.Join(out, as)
	_, err = browse("--no-pdf-header-footer", "--print-to-pdf="+pdf, "file://"+filepath.Join(out, filepath.FromSlash(page)))
	return pdf, err
}
