package line

// historySize is how many lines are remembered.
const historySize = 200

// History is the entered lines, newest last. It is not locked: one terminal has one history.
type History struct {
	lines []string
}

// Add adds a line, unless it is empty or equals the last one.
func (h *History) Add(line string) {
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	if len(h.lines) == historySize {
		h.lines = append(h.lines[:0], h.lines[1:]...)
	}
	h.lines = append(h.lines, line)
}

// Lines returns the lines, oldest first.
func (h *History) Lines() []string { return h.lines }
