package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sonde/qemu/story"
)

// A Test is a story that earns points.
type Test struct {
	story.Story
	ID     string
	Points int
	Hidden bool
	Limit  time.Duration // on the reference machine
}

// words are those that tests have besides a story's.
var words = []string{"ID", "POINTS", "DRAW", "PICK", "WANT", "TRUE", "BETWEEN", "ANSWER", "NEAR", "FEWER", "COUNTED", "TREES", "NESTED", "AMOUNTS", "BUDGET", "READ", "LIMIT"}

// usualLimit is how long a test may take on the reference machine, before the margin.
const usualLimit = 10 * time.Second

// readTests reads the tests of a file, with numbers drawn, for a module that is loaded under a name.
//
// Errors: ErrLab, story.ErrSyntax, with file and line.
func (l *Lab) readTests(path, class, module string, hidden bool) ([]Test, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	drawn, err := draw(strings.ReplaceAll(string(text), l.Module, module), class)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	stories, err := story.Parse(path, drawn, words...)
	if err != nil {
		return nil, err
	}
	var tests []Test
	for _, s := range stories {
		t := Test{Story: s, Hidden: hidden, Limit: usualLimit, ID: one(s, "ID")}
		if t.Points, err = strconv.Atoi(one(s, "POINTS")); err != nil || t.ID == "" {
			return nil, fmt.Errorf("%s:%d: %w: POINTS or ID is missing", path, s.Line, ErrLab)
		}
		if n, err := strconv.Atoi(one(s, "LIMIT")); err == nil {
			t.Limit = time.Duration(n) * time.Second
		}
		tests = append(tests, t)
	}
	return tests, nil
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// draw replaces the numbers and words that a test chooses by chance. The words follow from the name
// of the class, so that all of a class have the same.
//
// Errors: ErrLab.
func draw(text, class string) (string, error) {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		values := map[string]string{}
		for line := range strings.Lines(block) {
			f := strings.Fields(line)
			switch {
			case len(f) == 4 && f[0] == "DRAW":
				from, err1 := strconv.Atoi(f[2])
				to, err2 := strconv.Atoi(f[3])
				if err1 != nil || err2 != nil || to < from {
					return "", fmt.Errorf("%w: %s", ErrLab, line)
				}
				values[f[1]] = strconv.Itoa(from + rand.IntN(to-from+1))
			case len(f) > 2 && f[0] == "PICK":
				values[f[1]] = picked(f[2:], class, block)
			}
		}
		unknown := ""
		blocks[i] = placeholder.ReplaceAllStringFunc(block, func(p string) string {
			v, ok := values[p[1:len(p)-1]]
			if !ok {
				unknown = p
			}
			return v
		})
		if unknown != "" {
			return "", fmt.Errorf("%w: %s is neither drawn nor picked", ErrLab, unknown)
		}
	}
	return strings.Join(blocks, "\n\n"), nil
}

// picked returns the word that a class has in a block.
func picked(words []string, class, block string) string {
	hash := fnv.New32a()
	fmt.Fprint(hash, class, block)
	return words[hash.Sum32()%uint32(len(words))]
}

// one returns the last value of a word, "" if there is none.
func one(s story.Story, word string) string {
	if all := s.More[word]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}
