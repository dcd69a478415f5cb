// Package story reads and checks story tests: what a user types and what must
// come out, a few lines each.
//
//	NAME echo writes to files
//	RUN echo hello > /tmp/x
//	RUN cat /tmp/x
//	EXPECT ^hello$
//
// One block per story, blocks are separated by empty lines, "#" begins a
// comment line. The words:
//
//	NAME text          what the story shows; first in its block
//	RUN script         a line of the script; repeatable, also as indented lines
//	EXPECT regexp      some line of the output matches; repeatable, in this order
//	EXPECT_NOT regexp  no line of the output matches
//	EXPECT_LOG regexp  as EXPECT, for the console
//	STATUS n           exit status, 0 if not given
//	SMP n, MACHINE name, MEM size, APPEND words   the machine
//	ALONE reason       no other story may run on the machine before it or after it
//
// Callers of Parse may know more words, whose values are in Story.More.
//
// The form is that of bpftrace's runtime tests (tests/runtime/call there).
package story

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrSyntax says that a story file is not well formed.
var ErrSyntax = errors.New("bad story")

// Story is one test.
type Story struct {
	Name      string
	Line      int // of NAME in its file
	Script    string
	Expect    []*regexp.Regexp
	ExpectNot []*regexp.Regexp
	ExpectLog []*regexp.Regexp
	Status    int

	SMP                     int // 0 and "" leave the choice to the runner
	Machine, Memory, Append string
	Alone                   string // why no other story may be on its machine

	More map[string][]string // values of the caller's words, in order
}

// Parse reads the stories of a file; more are the words that the caller knows besides.
//
// Errors: ErrSyntax, wrapped with file and line.
func Parse(file, text string, more ...string) ([]Story, error) {
	var stories []Story
	lastWord := "" // of the block; "" between blocks
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch {
		case line == "":
			lastWord = ""
			continue
		case strings.HasPrefix(line, "#"):
			continue
		case line[0] == ' ' || line[0] == '\t':
			if lastWord != "RUN" {
				err = errors.New("only RUN goes on in the next line")
				break
			}
			word, rest = "RUN", strings.TrimLeft(line, " \t")
			err = stories[len(stories)-1].set(word, rest)
		case word == "NAME":
			stories = append(stories, Story{Name: rest, Line: n, More: map[string][]string{}})
		case lastWord == "":
			err = fmt.Errorf("%s before NAME", word)
		case rest != "" && slices.Contains(more, word):
			words := stories[len(stories)-1].More
			words[word] = append(words[word], rest)
		default:
			err = stories[len(stories)-1].set(word, rest)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w: %w", file, n, ErrSyntax, err)
		}
		lastWord = word
	}
	return stories, checkAll(file, stories)
}

func checkAll(file string, stories []Story) error {
	seen := map[string]bool{}
	for _, s := range stories {
		var what string
		switch {
		case s.Name == "":
			what = "no NAME"
		case s.Script == "":
			what = "no RUN"
		case seen[s.Name]:
			what = "NAME used before"
		}
		if what != "" {
			return fmt.Errorf("%s:%d: %w: %s", file, s.Line, ErrSyntax, what)
		}
		seen[s.Name] = true
	}
	return nil
}

// set stores the value of one word.
func (s *Story) set(word, rest string) (err error) {
	if rest == "" {
		return fmt.Errorf("%s without a value", word)
	}
	switch word {
	case "RUN":
		s.Script = strings.TrimPrefix(s.Script+"\n"+rest, "\n")
	case "EXPECT":
		s.Expect, err = appendPattern(s.Expect, rest)
	case "EXPECT_NOT":
		s.ExpectNot, err = appendPattern(s.ExpectNot, rest)
	case "EXPECT_LOG":
		s.ExpectLog, err = appendPattern(s.ExpectLog, rest)
	case "STATUS":
		s.Status, err = strconv.Atoi(rest)
	case "SMP":
		s.SMP, err = strconv.Atoi(rest)
	case "MACHINE":
		s.Machine = rest
	case "MEM":
		s.Memory = rest
	case "APPEND":
		s.Append = rest
	case "ALONE":
		s.Alone = rest
	default:
		err = fmt.Errorf("unknown word %q", word)
	}
	return err
}

func appendPattern(to []*regexp.Regexp, pattern string) ([]*regexp.Regexp, error) {
	re, err := regexp.Compile(pattern)
	return append(to, re), err
}
