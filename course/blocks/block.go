// Package blocks reads the fenced blocks of the course's pages, and compares them with what they show.
//
// The words after a fence say what holds the block:
//
//	sonde run smp=2 with=solution,work   commands; the labs' kernels have the lab's solution and the workloads. With
//	                                     fresh, nothing has run on the machine before
//	sonde launch                         one command line of the host, go run ./qemu; what it prints is the console and
//	                                     the script's output
//	output match=shape                   what the commands above print: these lines, in this order, with any
//	                                     numbers. match=lines lets others come between
//	output match=counts                  lets others come between; an address or an offset may be another one,
//	                                     if it is another one everywhere; times may differ; other numbers may not
//	output match=exact                   compares everything
//	sonde file=PATH, output file=PATH    lines of that page, which another test compares; … stands for lines between
//	go file=PATH, asm file=PATH          lines of that file
//	text drawing                         no output
package blocks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Block is a fenced block of a page.
type Block struct {
	Page string // as it is shown in errors
	Line int    // of its fence
	Head []string
	Text []string
}

func (b Block) String() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Read returns the blocks of a page.
func Read(page, text string) (all []Block) {
	inside := false
	for i, line := range strings.Split(text, "\n") {
		head, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			all = append(all, Block{Page: page, Line: i + 1, Head: strings.Fields(head)})
			inside = true
		case fence:
			inside = false
		case inside:
			last := &all[len(all)-1]
			last.Text = append(last.Text, line)
		}
	}
	return all
}

// Option returns what stands after NAME= in the head.
func (b Block) Option(name string) string {
	for _, word := range b.Head {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

// Kind returns the first word of the head.
func (b Block) Kind() string {
	if len(b.Head) == 0 {
		return ""
	}
	return b.Head[0]
}

// In reports whether a text has the lines of the block, side by side except where it has an ellipsis.
func (b Block) In(text []string) bool {
	rest := "\n" + strings.Join(text, "\n") + "\n"
	for part := range strings.SplitSeq("\n"+strings.Join(b.Text, "\n")+"\n", "\n…\n") {
		_, after, found := strings.Cut(rest, "\n"+strings.Trim(part, "\n")+"\n")
		if !found {
			return false
		}
		rest = "\n" + after
	}
	return true
}

// Wrong says what is wrong with a block, by itself and after another; "" if nothing is. The paths that it names
// begin at root.
func (b Block) Wrong(before Block, root string) string {
	file, kind := b.Option("file"), strings.Join(b.Head[:min(2, len(b.Head))], " ")
	switch {
	case kind == "sonde run", kind == "sonde launch", kind == "text drawing":
		return ""
	case len(b.Head) == 2 && file != "" && slices.Contains([]string{"go", "asm", "sonde", "output"}, b.Kind()):
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err.Error()
		}
		if !b.In(strings.Split(string(text), "\n")) {
			return file + " does not have these lines"
		}
		return ""
	case len(b.Head) == 2 && b.Kind() == "output" && forms[b.Option("match")].line != nil:
		if before.Kind() != "sonde" {
			return "there is no block of commands in front of this output"
		}
		return ""
	}
	return fmt.Sprintf("unknown kind of block: %q", kind)
}
