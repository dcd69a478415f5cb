package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sonde/qemu/machine"
)

// A fence is a fenced block of a page. The words after the fence say what holds it:
//
//	sonde run smp=2 with=solution,work   commands; the kernel has the lab's solution and the workloads
//	output match=shape                   what the commands above print: these lines, in this order,
//	                                     with any numbers. match=lines lets others come between,
//	                                     match=exact compares numbers, too
//	go file=PATH                         lines of that file
//	text drawing                         no output
type fence struct {
	page string
	line int
	head []string
	text []string
}

func (f fence) String() string { return fmt.Sprintf("%s:%d", f.page, f.line) }

// option returns what stands after NAME= in the head.
func (f fence) option(name string) string {
	for _, word := range f.head {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

// withPages are the labs, and what is pages and nothing else: lab 0, and the pages about the course.
func withPages(t *testing.T) []*Lab {
	course := filepath.Join(rootOf(t), "course")
	return append(labsHere(t), &Lab{Dir: filepath.Join(course, "labs", "0")}, &Lab{Dir: course})
}

// fences returns the blocks of a lab's pages.
func (l *Lab) fences(t *testing.T) (all []fence) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(l.Dir, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(filepath.Base(l.Dir), filepath.Base(page))
		inside := false
		for i, line := range strings.Split(string(text), "\n") {
			head, mark := strings.CutPrefix(line, "```")
			switch {
			case mark && !inside:
				all = append(all, fence{page: name, line: i + 1, head: strings.Fields(head)})
				inside = true
			case mark:
				inside = false
			case inside:
				all[len(all)-1].text = append(all[len(all)-1].text, line)
			}
		}
	}
	return all
}

// wrong says what is wrong with a block, by itself and after another.
func (f fence) wrong(before fence, root string) string {
	kind := strings.Join(f.head[:min(2, len(f.head))], " ")
	switch {
	case kind == "sonde run", kind == "text drawing":
		return ""
	case len(f.head) == 2 && f.head[0] == "output" && slices.Contains([]string{"shape", "lines", "exact"}, f.option("match")):
		if len(before.head) < 2 || before.head[1] != "run" {
			return "there is no block of commands in front of this output"
		}
		return ""
	case len(f.head) == 2 && f.head[0] == "go" && f.option("file") != "":
		text, err := os.ReadFile(filepath.Join(root, f.option("file")))
		if err != nil {
			return err.Error()
		}
		if !strings.Contains(string(text), strings.Join(f.text, "\n")+"\n") {
			return f.option("file") + " does not have these lines"
		}
		return ""
	}
	return fmt.Sprintf("unknown kind of block: %q", kind)
}

func TestBlocksOnPages(t *testing.T) {
	for _, l := range withPages(t) {
		var before fence
		for _, f := range l.fences(t) {
			if why := f.wrong(before, rootOf(t)); why != "" {
				t.Errorf("%v: %s", f, why)
			}
			before = f
		}
	}
}

var pageLink = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestNamesOnPages: the files that pages link to are there, and so are the sections of the
// introduction that tests name.
func TestNamesOnPages(t *testing.T) {
	for _, l := range withPages(t) {
		pages, _ := filepath.Glob(filepath.Join(l.Dir, "*.md"))
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range pageLink.FindAllStringSubmatch(string(text), -1) {
				if _, err := os.Stat(filepath.Join(l.Dir, m[1])); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
			for i, line := range strings.Split(string(text), "\n") {
				if utf8.RuneCountInString(line) > 100 && line[0] != '|' && line[0] != ' ' && !strings.Contains(line, "  ") && !strings.HasPrefix(line, "insmod:") {
					t.Errorf("%s:%d has more than 100 columns", page, i+1)
				}
			}
		}
		if l.N == 0 {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(l.Dir, "introduction.md"))
		for _, test := range testsOf(t, l, "", l.Module) {
			_, section, _ := strings.Cut(one(test.Story, "READ"), "\"")
			if section = strings.TrimSuffix(section, "\""); !strings.Contains(string(text), "\n## "+section+"\n") {
				t.Errorf("lab %d: %s sends readers to %q, which is no section", l.N, test.ID, section)
			}
		}
	}
}

// TestPagesShowOutput: what the pages show as output is what comes out.
func TestPagesShowOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("boots")
	}
	for _, l := range withPages(t) {
		g := l.withSolution(t)
		t.Run(filepath.Base(l.Dir), func(t *testing.T) {
			t.Parallel()
			var out []string
			for _, f := range l.fences(t) {
				switch f.head[0] {
				case "sonde":
					out = f.run(t, g)
				case "output":
					f.compare(t, out)
				}
			}
		})
	}
}

// withSolution returns the grader whose kernel has the lab's solution, and the others'.
func (l *Lab) withSolution(t *testing.T) *grader {
	if solved == nil {
		solveAll(t)
	}
	if l.N == 0 {
		return solved[""]
	}
	return solved[strconv.Itoa(l.N)]
}

// run boots a kernel with all solutions, which runs the commands, and returns the lines of the output.
func (f fence) run(t *testing.T, g *grader) (lines []string) {
	t.Helper()
	cpus, _ := strconv.Atoi(f.option("smp"))
	r, err := machine.Run(context.Background(), machine.Config{
		Image: g.kernel, Initrd: g.programs.archive, SMP: cpus, Script: strings.Join(f.text, "\n"), Timeout: time.Duration(measure() * float64(time.Minute)),
	})
	if err != nil {
		t.Fatalf("%v: %v", f, err)
	}
	for line := range strings.Lines(string(r.Stdout)) {
		lines = append(lines, stamp.ReplaceAllString(strings.TrimRight(line, "\r\n"), ""))
	}
	return lines
}

var (
	address = regexp.MustCompile(`\b(0x[0-9a-f]{8,16}|[0-9a-f]{16})\b`)
	offset  = regexp.MustCompile(`\+0x[0-9a-f]+`) // another compiler, another place
	spaces  = regexp.MustCompile(`\s+`)
)

// shape is a line with all that may differ masked.
func shape(line string) string {
	line = offset.ReplaceAllString(address.ReplaceAllString(line, "ADDRESS"), "+OFFSET")
	line = digit.ReplaceAllString(line, "N")
	return strings.TrimSpace(spaces.ReplaceAllString(line, " "))
}

// compare looks for the lines of a block in an output, in order.
func (f fence) compare(t *testing.T, out []string) {
	t.Helper()
	form := shape
	if f.option("match") == "exact" {
		form = func(line string) string { return line }
	}
	at, gap := 0, 0
	for _, want := range f.text {
		i := at
		for i < len(out) && form(out[i]) != form(want) {
			i++
		}
		if i == len(out) {
			t.Errorf("%v: this is not in the output, or not in this order:\n%s\nthe output:\n%s", f, want, strings.Join(out, "\n"))
			return
		}
		if at > 0 {
			gap += i - at
		}
		at = i + 1
	}
	if gap > 0 && f.option("match") != "lines" {
		t.Errorf("%v: %d lines come between these", f, gap)
	}
}
