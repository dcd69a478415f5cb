package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/qemu/machine"
	"sonde/tools"
)

// spansOf is a page's code within sentences and tables, each once.
func spansOf(t *testing.T, page string) (spans []string) {
	text, _, _ := strings.Cut(document(t, page), "## The same on Linux")
	text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		span := strings.Join(strings.Fields(strings.ReplaceAll(m[1], `\|`, "|")), " ")
		if !slices.Contains(spans, span) {
			spans = append(spans, span)
		}
	}
	return spans
}

var (
	isScript = regexp.MustCompile(`^(?:BEGIN|END|config|(?:interval|i|profile|line|inline|tracepoint|uprobe|uretprobe|kprobe|kretprobe|watchpoint):\S+(?: /.*/)?) \{.*\}$`)
	isBt     = regexp.MustCompile(`^bt -\S+ '[^']*'.*$`)
)

// trial is the command that tries a span, and ends: a script is compiled, and so is that of a command of bt or of a tool. "": it is
// no whole command, or needs a library of C.
func trial(span string, names []string) string {
	tool, rest, _ := strings.Cut(span, " ")
	switch {
	case strings.Contains(span, "libc"):
		return ""
	case isScript.MatchString(span):
		return "bt --dry-run -e '" + span + "'"
	case strings.HasPrefix(span, "bt -l"):
		return span + " > /dev/null"
	case isBt.MatchString(span):
		return strings.Replace(span, "bt ", "bt --dry-run ", 1)
	case slices.Contains(names, tool):
		usage := tools.All()[slices.Index(names, tool)].Usage
		if rest == "" && strings.HasPrefix(usage, "PLACE") {
			return ""
		}
		if strings.HasPrefix(rest, "-c ") {
			return span + " > /dev/null"
		}
		return tool + " -d " + rest + " > /dev/null"
	}
	return ""
}

// perMachine is how many commands a machine runs: its command line has room for no more.
const perMachine = 16

// TestSpansRun: code within sentences and tables that is a script, or a command of bt or of a tool, is right.
func TestSpansRun(t *testing.T) {
	runsBeside(t)
	var names, spans, scripts []string
	for _, tool := range tools.All() {
		names = append(names, tool.Name)
	}
	for _, page := range []string{"README.md", "docs/one-liners.md", "docs/questions.md"} {
		for _, span := range spansOf(t, page) {
			if script := trial(span, names); script != "" && !slices.Contains(scripts, script) {
				spans, scripts = append(spans, span), append(scripts, script)
			}
		}
	}
	if len(spans) < 40 {
		t.Errorf("%d spans can be run: %q", len(spans), spans)
	}
	for begin := 0; begin < len(scripts); begin += perMachine {
		part := scripts[begin:min(begin+perMachine, len(scripts))]
		out, status, _ := bootScripts(t, normalImage, machine.Config{}, part)
		for i := range part {
			if status[i] != 0 || regexp.MustCompile(`ERROR|usage:`).MatchString(out[i]) {
				t.Errorf("`%s`: status %d\n%s", spans[begin+i], status[i], out[i])
			}
		}
	}
}
