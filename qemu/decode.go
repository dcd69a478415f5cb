package main

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/internal/image"
)

// An essence is what a crash shows on the screen as a QR code: see kernel/die.
type essence struct {
	sum     uint32 // of the table of symbols
	ip, sp  uint64
	callers []uint64 // what the calls would have returned to, innermost first
	why     string
}

// upper is what all addresses of the kernel's code have in common.
const upper = 0xffffffff << 32

// parseEssence reads the text of a code. What a telephone makes of line breaks does not matter.
func parseEssence(text string) (e essence, err error) {
	bits := [...]int{32, 64, 64}
	var words [len(bits)]uint64
	fields := strings.Fields(text)
	if len(fields) <= len(words) || fields[0] != "sonde" {
		return e, fmt.Errorf("%q is not what a crash shows: it begins with sonde and three numbers", text)
	}
	for i := range words {
		if words[i], err = strconv.ParseUint(fields[i+1], 16, bits[i]); err != nil {
			return e, fmt.Errorf("%q is not what a crash shows: %w", text, err)
		}
	}
	e.sum, e.ip, e.sp = uint32(words[0]), words[1], words[2]
	rest := fields[1+len(words):]
	for len(rest) > 0 && len(rest[0]) == 8 {
		pc, err := strconv.ParseUint(rest[0], 16, 32)
		if err != nil {
			break
		}
		e.callers, rest = append(e.callers, upper|pc), rest[1:]
	}
	e.why = strings.Join(rest, " ")
	return e, nil
}

// decode returns what the text of a crash's code says, with the names that the image file path has for the addresses.
func decode(text, path string) (string, error) {
	e, err := parseEssence(text)
	if err != nil {
		return "", fmt.Errorf("-decode: %w", err)
	}
	info, err := image.Inspect(path)
	if err != nil {
		return "", fmt.Errorf("-decode: %w", err)
	}
	if sum := info.Symbols.Sum(); sum != e.sum {
		return "", fmt.Errorf("-decode: the code is of another kernel than %s (checksums of their symbols: %08x and %08x); -image FILE names its image", path, e.sum, sum)
	}
	lines, err := image.Lines(path)
	if err != nil {
		return "", fmt.Errorf("-decode: %w", err)
	}
	place := func(pc uint64) string {
		fn, ok := lines.At(pc)
		if !ok {
			return fmt.Sprintf("%#x", pc)
		}
		file, line, _ := fn.Line(pc)
		return fmt.Sprintf("%s+%#x/%#x  %s:%d", fn.Name(), pc-fn.Addr, fn.End-fn.Addr, strings.TrimPrefix(file, "sonde/"), line)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nRIP: %s\nRSP: %016x\nCall Trace:\n", e.why, place(e.ip), e.sp)
	for _, pc := range e.callers {
		fmt.Fprintf(&b, " %s\n", place(pc-1))
	}
	return b.String(), nil
}
