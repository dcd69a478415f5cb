package story

import (
	"fmt"
	"regexp"
	"strings"
)

// Check compares a run with what the story expects and returns what is wrong.
func (s *Story) Check(stdout, log string, status int) []string {
	var wrong []string
	if status != s.Status {
		wrong = append(wrong, fmt.Sprintf("STATUS is %d, want %d", status, s.Status))
	}
	wrong = append(wrong, inOrder("EXPECT", s.Expect, stdout)...)
	wrong = append(wrong, inOrder("EXPECT_LOG", s.ExpectLog, log)...)
	for _, re := range s.ExpectNot {
		for line := range lines(stdout) {
			if re.MatchString(line) {
				wrong = append(wrong, fmt.Sprintf("EXPECT_NOT %s: %q", re, line))
				break
			}
		}
	}
	return wrong
}

// inOrder looks for a line for each pattern, each after the one before. It
// stops at the first that is missing: the later ones would only repeat it.
func inOrder(word string, patterns []*regexp.Regexp, text string) []string {
	left := patterns
	for line := range lines(text) {
		if len(left) > 0 && left[0].MatchString(line) {
			left = left[1:]
		}
	}
	if len(left) == 0 {
		return nil
	}
	where := ""
	if done := len(patterns) - len(left); done > 0 {
		where = fmt.Sprintf(" behind the line for %s", patterns[done-1])
	}
	return []string{fmt.Sprintf("%s %s: no such line%s", word, left[0], where)}
}

// lines yields the lines of text without their ends.
func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}
