package elf

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxLine is how much of a script's first line counts, as in Linux.
const maxLine = 256

// script returns the interpreter that a script names, and the arguments that it is
// called with before the script's path: its own name, and what follows it on the
// line as one argument. "": f is no script.
func script(f File) (interp string, args []string, err error) {
	b := make([]byte, maxLine)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", nil, err
	}
	b = b[:n]
	if !bytes.HasPrefix(b, []byte("#!")) {
		return "", nil, nil
	}
	line, _, ended := bytes.Cut(b[2:], []byte("\n"))
	if !ended && n == maxLine {
		// Cut off within the name it would be another program's; an argument
		// may be cut.
		if !bytes.ContainsAny(bytes.Trim(line, " \t"), " \t") {
			return "", nil, corrupt("the script's interpreter has a name longer than %d bytes", maxLine)
		}
	}
	text := strings.Trim(string(line), " \t")
	if i := strings.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	interp, rest := text, ""
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		interp, rest = text[:i], strings.Trim(text[i:], " \t")
	}
	if interp == "" {
		return "", nil, corrupt("the script names no interpreter")
	}
	args = []string{interp}
	if rest != "" {
		args = append(args, rest)
	}
	return interp, args, nil
}
