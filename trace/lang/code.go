package lang

import "strings"

// line is an instruction, or a label with its colon.
type line struct {
	text string
	span Span
}

// leads tells where execution may continue after an instruction: at a label, at the next line.
func (l line) leads() (label string, next bool) {
	if _, function, ok := strings.Cut(l.text, "subprog["); ok {
		return strings.TrimSuffix(function, "]"), true
	}
	before, label, jumps := strings.Cut(l.text, "goto ")
	return label, l.text != "exit" && (!jumps || before != "")
}

// reachable returns the lines that execution can reach: the verifier refuses others.
func reachable(code []line) (kept []line) {
	labels := map[string]int{}
	for i, l := range code {
		if name, ok := strings.CutSuffix(l.text, ":"); ok {
			labels[name] = i
		}
	}
	seen := make([]bool, len(code))
	for open := []int{0}; len(open) > 0; {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		for i < len(code) && !seen[i] {
			seen[i] = true
			label, next := code[i].leads()
			if label != "" {
				open = append(open, labels[label])
			}
			if !next {
				break
			}
			i++
		}
	}
	for i, l := range code {
		if seen[i] {
			kept = append(kept, l)
		}
	}
	return kept
}

// join returns the text for bpf.Assemble, and where in the script each of its instructions comes from.
func join(code []line) (text string, spans []Span) {
	var b strings.Builder
	for _, l := range code {
		b.WriteString(l.text + "\n")
		if strings.HasSuffix(l.text, ":") {
			continue
		}
		spans = append(spans, l.span)
		if strings.Contains(l.text, "map[") || strings.Contains(l.text, "subprog[") || strings.HasSuffix(l.text, " ll") { // it takes two
			spans = append(spans, l.span)
		}
	}
	return b.String(), spans
}
