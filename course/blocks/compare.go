package blocks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A form says how lines are compared: by what is left of them, and by names, which may be others in the output,
// if two that are the same in the block are the same there.
type form struct {
	line func(line string) (left string, names []string)
	gaps bool // other lines may come between
}

var forms = map[string]form{
	"shape":  {line: shape},
	"lines":  {line: shape, gaps: true},
	"counts": {line: counts, gaps: true},
	"exact":  {line: func(line string) (string, []string) { return line, nil }},
}

var (
	stamp   = regexp.MustCompile(`^\[ *\d+\.\d+\] `)
	address = regexp.MustCompile(`\b(0x[0-9a-f]{8,16}|[0-9a-f]{16})\b`)
	offset  = regexp.MustCompile(`\+0x[0-9a-f]+`) // another compiler, another place
	digits  = regexp.MustCompile(`\d+`)
	spaces  = regexp.MustCompile(`\s+`)
)

// Lines returns the lines of an output, without the times of the log.
func Lines(output string) (lines []string) {
	for line := range strings.Lines(output) {
		lines = append(lines, stamp.ReplaceAllString(strings.TrimRight(line, "\r\n"), ""))
	}
	return lines
}

// shape is a line with all that may differ masked.
func shape(line string) (string, []string) {
	line = offset.ReplaceAllString(address.ReplaceAllString(line, "ADDRESS"), "+OFFSET")
	return squeeze(digits.ReplaceAllString(line, "N")), nil
}

func squeeze(line string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(line, " "))
}

// vary are what differs between runs and builds, although no count does: times, displacements of jumps and calls,
// lines of files, goroutines and processes, and which CPU it was.
var vary = []struct {
	find *regexp.Regexp
	put  string
}{
	{stamp, ""},
	{regexp.MustCompile(`\b\d+(?:\.\d+)? [nuµm]?s\b`), "TIME"},
	{regexp.MustCompile(`\b(0f 8[0-9a-f]|e[89]) [0-9a-f]{2}( [0-9a-f]{2}){3}`), "$1 DISPLACEMENT"},
	{regexp.MustCompile(`\b(8[0-9a-f] [0-3][5d]) [0-9a-f]{2}( [0-9a-f]{2}){3}`), "$1 DISPLACEMENT"},
	{regexp.MustCompile(`\.(go|s):\d+`), ".$1:LINE"},
	{regexp.MustCompile(`\b(CPU|goroutine|process|thread)(:?) \d+`), "$1$2 N"},
	{regexp.MustCompile(`\b(flags=0x)[0-9a-f]+`), "${1}FLAGS"},
}

// named are what has another name in another build.
var named = regexp.MustCompile(`\b0x[0-9a-f]{3,16}\b|\b[0-9a-f]{16}\b|\b[0-9a-f]{8}\b|\.\.[0-9a-f]{8}\b|\+0x[0-9a-f]+`)

// counts is a line without what varies, and the addresses and offsets in it.
func counts(line string) (string, []string) {
	for _, v := range vary {
		line = v.find.ReplaceAllString(line, v.put)
	}
	var names []string
	line = named.ReplaceAllStringFunc(line, func(name string) string {
		if digits := strings.TrimLeft(name, "+.0x"); name[0] != '+' {
			name = digits // 0xffffffff84000000 is ffffffff84000000 in a list
		}
		names = append(names, name)
		return "NAME"
	})
	return squeeze(line), names
}

// Compare looks for the lines of a block in an output, in order.
func (b Block) Compare(out []string) error {
	form := forms[b.Option("match")]
	there := map[string]string{} // what is called this in the block, in the output
	at, gap := 0, 0
	for _, want := range b.Text {
		if form.gaps && strings.TrimSpace(want) == "…" {
			continue
		}
		i := at
		for i < len(out) && !form.same(want, out[i], there) {
			i++
		}
		if i == len(out) {
			return fmt.Errorf("%v: this is not in the output, or not in this order:\n%s\nthe output:\n%s", b, want, strings.Join(out, "\n"))
		}
		if at > 0 {
			gap += i - at
		}
		at = i + 1
	}
	if gap > 0 && !form.gaps {
		return fmt.Errorf("%v: %d lines come between these", b, gap)
	}
	return nil
}

// same reports whether a line of the output is the wanted one; if so, there has its names, too.
func (f form) same(want, got string, there map[string]string) bool {
	want, names := f.line(want)
	got, others := f.line(got)
	if want != got || len(names) != len(others) {
		return false
	}
	for i, name := range names {
		if other, known := there[name]; known && other != others[i] {
			return false
		}
	}
	for i, name := range names {
		there[name] = others[i]
	}
	return true
}

// Renew returns the lines of a block as the output has them. A line of which not even the shape is there stays as it is.
func (b Block) Renew(out []string) []string {
	lines, at := slices.Clone(b.Text), 0
	for n, want := range lines {
		wanted, _ := shape(want)
		for i := at; i < len(out); i++ {
			if got, _ := shape(out[i]); got == wanted {
				lines[n], at = out[i], i+1
				break
			}
		}
	}
	return lines
}
