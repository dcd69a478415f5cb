package book

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sonde/course/blocks"
)

var (
	// notFigures are numbers that nothing has measured: of sections, of versions, of bits, and how long a lecture takes.
	notFigures = regexp.MustCompile(`\]\([^)]*\)|§[\w.]+|(?:[Ss]ection|[Cc]hapters?|[Ee]xercises?|[Ll]abs?|[Ll]ectures?|Go|QEMU|Linux|Volume|Debian) \d[\w.]*(?: (?:and|to|or) \d[\w.]*)?|\d+[- ]bits?\b|\d+ minutes`)
	within     = regexp.MustCompile(`(\d),(\d)|([0-9a-f])_([0-9a-f])`) // marks within numbers
	figure     = regexp.MustCompile(`\b(?:0x[0-9a-f]+|\d[\d,]*(?:\.\d+)?|[0-9a-f]{2}(?: [0-9a-f]{2})+|[0-9a-f]{8,16})\b`)
)

// prose returns the lines of a page that are in no block and no heading, joined as in a paragraph.
func prose(text string) string {
	var lines []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "```") {
			inside = !inside
		} else if !inside && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

// unfounded returns the numbers of two digits and more in the prose of a page that none of its blocks has. So a
// sentence cannot say another number than the block that it is about, also when the block has changed.
func unfounded(text string) (all []string) {
	var b strings.Builder
	for _, block := range blocks.Read("", text) {
		b.WriteString(within.ReplaceAllString(strings.Join(block.Text, "\n"), "$1$3$2$4") + "\n")
	}
	for _, f := range figure.FindAllString(notFigures.ReplaceAllString(prose(text), ""), -1) {
		bare := strings.TrimPrefix(strings.ReplaceAll(f, ",", ""), "0x")
		if len(bare) < 2 || slices.Contains(all, f) {
			continue
		}
		if !regexp.MustCompile(`(?:\b|x|\.)` + regexp.QuoteMeta(bare) + `\b`).MatchString(b.String()) {
			all = append(all, f)
		}
	}
	return all
}

// TestFigures: each number in the text is one that a block shows.
func TestFigures(t *testing.T) {
	for _, p := range checked(t) {
		for _, f := range unfounded(p.text) {
			t.Errorf("%s/%s: no block has %s", p.dir, p.name, f)
		}
	}
}

func TestUnfoundedFiguresAreFound(t *testing.T) {
	const text = "# 99 of them\n\nAt `0xffffffff84101a20`, 1,000 hits and 17 in lab 12, on a 32-bit machine (kprobes.txt §1.41), see [it](x-44.md),\n" +
		"`cc 3b` and `9c 41`, 2 more, 88.\n\n```output match=exact\nffffffff84101a20 1000 cc 3b\n```\n"
	if got := unfounded(text); !slices.Equal(got, []string{"17", "9c 41", "88"}) {
		t.Errorf("%q", got)
	}
}

// TestWidth: prose is wrapped as on all pages.
func TestWidth(t *testing.T) {
	for _, p := range checked(t) {
		inside := false
		for line := range strings.Lines(p.text) {
			if strings.HasPrefix(line, "```") {
				inside = !inside
			} else if !inside && utf8.RuneCountInString(line) > 101 && line[0] != '|' {
				t.Errorf("%s: more than 100 columns: %s", p.name, line)
			}
		}
	}
}
