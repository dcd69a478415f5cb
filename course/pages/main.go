// Command pages makes the book: an HTML page for each chapter, with what it links to, an index, and
// PDFs of the chapters and of the reference card if there is Chromium. With -slides, it makes a file for each lecture instead.
//
//	go run -C course/pages . [-slides] [-root ../..] [-o ../../build/book]
//
// Pages lie as their sources do: docs/boot.md becomes docs/boot.html, and a file of source that a page names
// becomes a page with its lines. Nothing is loaded from elsewhere. It is a module of its own, so that the kernel's
// does not need the parser of Markdown.
//
// A deck of slides is Markdown, too. A line --- begins a slide. What comes after a line "Note:" is for the speaker.
// On a slide with a command, output comes with a key; so does a quotation, anywhere: it is for answers.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", filepath.Join("..", ".."), "the `folder` of the tree")
	out := flag.String("o", "", "the `folder` to write; build/book or build/slides of the tree if it is empty")
	slides := flag.Bool("slides", false, "make the slides")
	flag.Parse()
	write := writeBook
	if *slides {
		write = writeSlides
	}
	if err := write(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// begins says where to begin reading.
func begins(folder string) string {
	index, err := filepath.Abs(filepath.Join(folder, "index.html"))
	if err != nil {
		return folder
	}
	return index
}

func writeSlides(root, out string) error {
	out = cmp.Or(out, filepath.Join(root, "build", "slides"))
	n, err := makeSlides(root, out)
	if err == nil {
		fmt.Printf("%d decks; begin with %s\n", n, begins(out))
	}
	return err
}

func writeBook(root, out string) error {
	out = cmp.Or(out, filepath.Join(root, "build", "book"))
	pages, err := makeBook(root, out)
	if err != nil {
		return err
	}
	fmt.Printf("%d pages; begin with %s\n", pages, begins(out))
	if chromium() == "" {
		fmt.Println("no PDF: there is no Chromium to print it")
		return nil
	}
	for _, p := range pdfs {
		pdf, err := print(out, p.page, p.as)
		if err != nil {
			return err
		}
		fmt.Println("to print:", pdf)
	}
	return nil
}

// pdfs are the pages of which PDFs are made.
var pdfs = []struct{ page, as string }{{whole + ".html", "book.pdf"}, {pageOf(card), "card.pdf"}}
