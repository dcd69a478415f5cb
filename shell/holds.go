package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/vfs"
)

// Conditions: [[ ]] by the parser's tree, test and [ by their words.

func init() {
	language = append(language,
		&Command{Name: "test", Usage: "condition", Help: "be true or false: -f file, -d file, -e file, -z text, text = text, number -lt number, ! condition", Verbatim: true, Run: test},
		&Command{Name: "[", Usage: "condition ]", Help: "the same as test", Verbatim: true, Run: func(c *Context, args []string) error {
			if len(args) == 0 || args[len(args)-1] != "]" {
				return Usagef("the last word must be ]")
			}
			return test(c, args[:len(args)-1])
		}},
		&Command{Name: "printf", Usage: "format [word...]", Help: "print words in a format: %s %d %x %c %b", Verbatim: true, Run: printf})
}

// holds tells whether a condition of [[ ]] is true.
func (s *Shell) holds(x syntax.TestExpr) (bool, error) {
	switch x := x.(type) {
	case *syntax.Word:
		text, err := s.literal(x)
		return text != "", err
	case *syntax.ParenTest:
		return s.holds(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			yes, err := s.holds(x.X)
			return !yes, err
		}
		word, _ := x.X.(*syntax.Word)
		text, err := s.literal(word)
		if err != nil {
			return false, err
		}
		return s.holdsOf(x.Op.String(), text)
	case *syntax.BinaryTest:
		return s.holdsBoth(x)
	}
	return false, fmt.Errorf("the condition is not supported")
}

func (s *Shell) holdsBoth(x *syntax.BinaryTest) (bool, error) {
	if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
		if yes, err := s.holds(x.X); err != nil || yes == (x.Op == syntax.OrTest) {
			return yes, err
		}
		return s.holds(x.Y)
	}
	left, _ := x.X.(*syntax.Word)
	right, _ := x.Y.(*syntax.Word)
	a, err := s.literal(left)
	if err != nil {
		return false, err
	}
	switch x.Op {
	case syntax.TsMatch, syntax.TsMatchShort:
		return s.matches(right, a)
	case syntax.TsNoMatch:
		yes, err := s.matches(right, a)
		return !yes && err == nil, err
	}
	b, err := s.literal(right)
	if err != nil {
		return false, err
	}
	if x.Op == syntax.TsReMatch {
		if len(b) > maxPattern {
			return false, fmt.Errorf("the expression has more than %d bytes", maxPattern)
		}
		re, err := regexp.Compile(b)
		if err != nil {
			return false, err
		}
		m := re.FindStringSubmatch(a)
		return m != nil, s.Set("BASH_REMATCH", expand.Variable{Set: true, Kind: expand.Indexed, List: m})
	}
	return s.holdsBetween(a, x.Op.String(), b)
}

// holdsOf is a condition about one text.
func (s *Shell) holdsOf(op, text string) (bool, error) {
	switch op {
	case "-z":
		return text == "", nil
	case "-n":
		return text != "", nil
	case "-v":
		return s.Get(text).IsSet(), nil
	case "-t":
		switch text {
		case "0":
			return s.typed != nil && s.In == s.typed, nil
		case "1":
			return s.onScreen(s.Out), nil
		}
		return text == "2" && s.onScreen(s.Err), nil
	}
	i, err := vfs.Root.StatAt(vfs.Root.RootPlace(), s.path(text), op != "-L" && op != "-h")
	there := err == nil && text != ""
	switch op {
	case "-e", "-a", "-r", "-w":
		return there, nil
	case "-f":
		return there && i.Mode.IsRegular(), nil
	case "-d":
		return there && i.Mode.IsDir(), nil
	case "-s":
		return there && i.Size > 0, nil
	case "-x":
		return there && i.Mode&0o111 != 0, nil
	case "-L", "-h":
		return there && i.Mode&fs.ModeSymlink != 0, nil
	case "-p":
		return there && i.Mode&fs.ModeNamedPipe != 0, nil
	case "-c":
		return there && i.Mode&fs.ModeCharDevice != 0, nil
	}
	return false, Usagef("there is no condition %s", op)
}

// holdsBetween is a condition about two texts.
func (s *Shell) holdsBetween(a, op, b string) (bool, error) {
	switch op {
	case "=", "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	case "<":
		return a < b, nil
	case ">":
		return a > b, nil
	}
	compare, ok := map[string]func(x, y int64) bool{
		"-eq": func(x, y int64) bool { return x == y }, "-ne": func(x, y int64) bool { return x != y },
		"-lt": func(x, y int64) bool { return x < y }, "-le": func(x, y int64) bool { return x <= y },
		"-gt": func(x, y int64) bool { return x > y }, "-ge": func(x, y int64) bool { return x >= y },
	}[op]
	if !ok {
		return false, Usagef("there is no condition %s", op)
	}
	x, err := strconv.ParseInt(strings.TrimSpace(a), 10, 64)
	y, err2 := strconv.ParseInt(strings.TrimSpace(b), 10, 64)
	if err != nil || err2 != nil {
		return false, Usagef("%q and %q are not both numbers", a, b)
	}
	return compare(x, y), nil
}

// test runs test and [.
func test(c *Context, args []string) error {
	yes, err := c.Shell.testOr(args)
	if err == nil && !yes {
		return Status(statusError)
	}
	return err
}

// testOr reads conditions joined by -o, and those joined by -a, which bind closer.
func (s *Shell) testOr(args []string) (bool, error) {
	if len(args) > 3 {
		for _, op := range []string{"-o", "-a"} {
			for i := 1; i < len(args)-1; i++ {
				if args[i] != op {
					continue
				}
				left, err := s.testOr(args[:i])
				right, err2 := s.testOr(args[i+1:])
				if op == "-o" {
					return left || right, cmp.Or(err, err2)
				}
				return left && right, cmp.Or(err, err2)
			}
		}
	}
	switch {
	case len(args) == 0:
		return false, nil
	case len(args) == 1:
		return args[0] != "", nil
	case len(args) == 3 && args[0] != "!":
		return s.holdsBetween(args[0], args[1], args[2])
	case args[0] == "!":
		yes, err := s.testOr(args[1:])
		return !yes && err == nil, err
	case len(args) == 2:
		return s.holdsOf(args[0], args[1])
	}
	return false, Usagef("%s: there are too many words", strings.Join(args, " "))
}

// tooWide finds a width in a format that would fill the memory, and widths finds all.
var (
	tooWide = regexp.MustCompile(`%[-+ 0#]*[0-9.]*[0-9]{5}`)
	widths  = regexp.MustCompile(`%[-+ 0#.]*([0-9]+)[.]?([0-9]*)`)
)

// width is how many bytes a format fills at most, without its words.
func width(format string) (total int) {
	for _, w := range widths.FindAllStringSubmatch(format, -1) {
		for _, digits := range w[1:] {
			n, _ := strconv.Atoi(digits) // there may be none
			total += n
		}
	}
	return total
}

func printf(c *Context, args []string) error {
	if len(args) == 0 {
		return Usagef("give a format")
	}
	if tooWide.MatchString(args[0]) {
		return Usagef("a width has more than 4 digits")
	}
	if n := width(args[0]); n > maxExpansion {
		return Usagef("the format fills %d bytes, more than %d", n, maxExpansion)
	}
	format, args := args[0], append([]string{}, args[1:]...)
	var wrong error // what was no number: the rest is printed, as in bash
	for {
		wrong = cmp.Or(wrong, printedNumbers(format, args))
		text, used, err := expanded2(format, args)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(c.Out, text); err != nil {
			return err
		}
		args = args[used:]
		if used == 0 || len(args) == 0 {
			return wrong
		}
	}
}

// verb finds what takes a word in a format, and %%.
var verb = regexp.MustCompile(`%[-+ 0-9]*([a-z%])`)

// printedNumbers says which of the words that a format prints as numbers is none. The library prints that as
// 0, and knows no character's number ('a), which is put in its place.
func printedNumbers(format string, words []string) (err error) {
	for _, v := range verb.FindAllStringSubmatch(format, len(words)+strings.Count(format, "%%")) {
		if v[1] == "%" || len(words) == 0 {
			continue
		}
		if strings.Contains("diuox", v[1]) && words[0] != "" {
			err = cmp.Or(err, printedNumber(&words[0]))
		}
		words = words[1:]
	}
	return err
}

// printedNumber checks a word that is printed as a number, and puts that of a character in its place.
func printedNumber(word *string) error {
	if c := strings.TrimLeft((*word)[:1], `'"`); c == "" && len(*word) > 1 {
		r, _ := utf8.DecodeRuneInString((*word)[1:])
		*word = strconv.Itoa(int(r))
	}
	switch _, err := strconv.ParseInt(*word, 0, 64); {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s does not fit in 64 bits", *word)
	case err != nil:
		return fmt.Errorf("%q is not a number", *word)
	}
	return nil
}

// expanded2 formats words; the library panics at formats that end early.
func expanded2(format string, args []string) (text string, used int, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%q is not a format", format)
		}
	}()
	return expand.Format(&expand.Config{}, format, args)
}
