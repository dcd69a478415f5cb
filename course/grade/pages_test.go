package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"sonde/course/blocks"
	"sonde/qemu/machine"
)

// withPages are the labs, and what is pages and nothing else: lab 0, and the pages about the course.
func withPages(t *testing.T) []*Lab {
	course := filepath.Join(rootOf(t), "course")
	return append(labsHere(t), &Lab{Dir: filepath.Join(course, "labs", "0")}, &Lab{Dir: course})
}

// fences returns the blocks of a lab's pages.
func (l *Lab) fences(t *testing.T) (all []blocks.Block) {
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
		all = append(all, blocks.Read(filepath.Join(filepath.Base(l.Dir), filepath.Base(page)), string(text))...)
	}
	return all
}

func TestBlocksOnPages(t *testing.T) {
	for _, l := range withPages(t) {
		var before blocks.Block
		for _, f := range l.fences(t) {
			if why := f.Wrong(before, rootOf(t)); why != "" {
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
	said, fences := map[string][]string{}, []blocks.Block{}
	var mutex sync.Mutex
	t.Run("machines", func(t *testing.T) {
		for archive, all := range pagesByArchive(t) {
			fences = append(fences, all...)
			for i, o := range blocks.Boots(all, true) {
				t.Run(filepath.Base(filepath.Dir(archive))+"-"+strconv.Itoa(i), func(t *testing.T) {
					t.Parallel()
					now := runBlocks(t, o, archive)
					mutex.Lock()
					defer mutex.Unlock()
					maps.Copy(said, now)
				})
			}
		}
	})
	var out []string
	for _, f := range fences {
		if f.Kind() == "sonde" {
			out = said[f.String()]
		} else if f.Option("match") != "" {
			if err := f.Compare(out); err != nil {
				t.Error(err)
			}
		}
	}
}

// pagesByArchive returns the blocks of all pages, by the archive with the programs of the lab; "" if there are none.
func pagesByArchive(t *testing.T) map[string][]blocks.Block {
	all := map[string][]blocks.Block{}
	for _, l := range withPages(t) {
		archive := l.withSolution(t).programs.archive
		all[archive] = append(all[archive], l.fences(t)...)
	}
	return all
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

// runBlocks boots a kernel with all solutions, which runs the commands, and returns the lines of each output.
func runBlocks(t *testing.T, o blocks.Boot, archive string) map[string][]string {
	t.Helper()
	r, err := machine.Run(context.Background(), machine.Config{
		Image: solved[""].kernel, Initrd: archive, SMP: o.SMP, Script: o.Script(true), Timeout: 9 * time.Minute, // for a hang, not for a slow host
	})
	if err != nil {
		t.Fatalf("%v: %v\n%s\n%s", o.Commands[0], err, r.Log, r.Stdout)
	}
	said, err := o.Split(string(r.Stdout))
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, r.Log, r.Stdout)
	}
	return said
}
