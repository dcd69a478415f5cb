package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"sync"
	"syscall"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"sonde/kernel/vfs"
)

// What the expansion of one command's words may take: bytes, bytes of patterns, which become
// automata, and directories that a pattern reads.
const (
	maxExpansion   = 512 << 10
	maxPattern     = 16 << 10
	maxDirectories = 1000
)

// fields expands words to fields: braces, variables, $( ), arithmetic, patterns.
func (s *Shell) fields(words []*syntax.Word) ([]string, error) {
	return expanded(s, words, func(cfg *expand.Config) ([]string, error) { return expand.Fields(cfg, words...) })
}

// literal expands a word to one text.
func (s *Shell) literal(word *syntax.Word) (string, error) {
	if word == nil {
		return "", nil
	}
	return expanded(s, []*syntax.Word{word}, func(cfg *expand.Config) (string, error) { return expand.Literal(cfg, word) })
}

// document expands the text of a here-document.
func (s *Shell) document(word *syntax.Word) (string, error) {
	if word == nil {
		return "", nil
	}
	return expanded(s, []*syntax.Word{word}, func(cfg *expand.Config) (string, error) { return expand.Document(cfg, word) })
}

// expanded calls f to expand words, unless they would become too large.
//
// Errors: those of f; for what is too large.
func expanded[T any](s *Shell, words []*syntax.Word, f func(*expand.Config) (T, error)) (result T, err error) {
	total := int64(0)
	for _, w := range words {
		total = min(total+s.bound(w), maxExpansion+1)
	}
	if total > maxExpansion {
		return result, fmt.Errorf("the words would become larger than %d bytes", maxExpansion)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("expansion panicked: %v", r)
		}
	}()
	s.substituted = statusOK
	room, read := maxExpansion, 0
	cfg := &expand.Config{
		Env: s, NoUnset: s.opts.unset,
		CmdSubst:  func(w io.Writer, c *syntax.CmdSubst) error { return s.substitute(w, c, &room) },
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "", errors.New("<( ) is not supported") },
	}
	if !s.opts.noGlob && total <= maxPattern {
		cfg.ReadDir2 = func(dir string) ([]fs.DirEntry, error) {
			if read++; read > maxDirectories {
				return nil, fmt.Errorf("a pattern reads more than %d directories", maxDirectories)
			}
			return vfs.ReadDir(dir)
		}
	}
	return f(cfg)
}

// substitute is $( ).
func (s *Shell) substitute(w io.Writer, c *syntax.CmdSubst, room *int) error {
	out := &capture{room: *room}
	s.depth++
	sub := s.sub()
	s.depth--
	sub.Out = out
	sub.safely(func(sub *Shell) { sub.stmts(c.Stmts) })
	s.substituted = sub.status
	text, err := out.take()
	*room -= len(text)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// capture keeps what commands print, as far as there is room.
type capture struct {
	mu sync.Mutex
	// guarded by mu:
	buf  bytes.Buffer
	room int
	err  error
}

// Write implements io.Writer.
//
// Errors: EPIPE when there is no room any more, or nothing reads it any more.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(p) > c.room && c.err == nil {
		c.err = fmt.Errorf("the output of $( ) has more than %d bytes", maxExpansion)
	}
	if c.err != nil {
		return 0, syscall.EPIPE
	}
	c.room -= len(p)
	return c.buf.Write(p)
}

// take ends the capture.
func (c *capture) take() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.err
	c.err = syscall.EPIPE
	return c.buf.Bytes(), err
}

// bound is a number of bytes that the expansion of a word does not exceed, $( ) not counted.
func (s *Shell) bound(word *syntax.Word) int64 {
	if word == nil {
		return 0
	}
	w := *word
	syntax.SplitBraces(&w)
	count, each := int64(1), int64(1)
	for _, part := range w.Parts {
		if b, ok := part.(*syntax.BraceExp); ok {
			n, bytes := s.boundBraces(b)
			count = min(count*n, maxExpansion+1)
			each += bytes
			continue
		}
		each += s.boundPart(part)
	}
	each = min(each, maxExpansion+1)
	if count > 1 {
		each += 64 // each is a word of its own
	}
	return count * each
}

// boundBraces returns how many words braces become, and how long each part is at most.
func (s *Shell) boundBraces(b *syntax.BraceExp) (count, each int64) {
	if !b.Sequence {
		for _, e := range b.Elems {
			n := s.bound(e)
			count, each = count+1+n/64, each+n
		}
		return min(count, maxExpansion+1), min(each, maxExpansion+1)
	}
	from, err := strconv.ParseInt(b.Elems[0].Lit(), 10, 64)
	to, err2 := strconv.ParseInt(b.Elems[1].Lit(), 10, 64)
	if err != nil || err2 != nil {
		return 256, 1
	}
	// A step only makes it less. The difference may overflow.
	if n := max(from, to) - min(from, to); n >= 0 && n < maxExpansion {
		return n + 1, 20
	}
	return maxExpansion + 1, 20
}

func (s *Shell) boundPart(part syntax.WordPart) (n int64) {
	switch p := part.(type) {
	case *syntax.Lit:
		return int64(len(p.Value)) + int64(len(s.vars["HOME"].Str))
	case *syntax.SglQuoted:
		return int64(len(p.Value))
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			n += s.boundPart(q)
		}
		return n
	case *syntax.ParamExp:
		return s.boundParam(p)
	}
	return 20
}

func (s *Shell) boundParam(p *syntax.ParamExp) int64 {
	v := s.Get(p.Param.Value)
	n := int64(size(v)) + 20
	if p.Excl {
		n = int64(s.bytes) + int64(size(s.Get(v.Str))) + 20*maxNames
	}
	if p.Exp != nil {
		n = 4*n + s.bound(p.Exp.Word) // @Q quotes
		if p.Exp.Op >= syntax.RemSmallSuffix && s.bound(p.Exp.Word) > maxPattern {
			return maxExpansion + 1
		}
	}
	if r := p.Repl; r != nil {
		n = min(n, maxExpansion) * min(1+s.bound(r.With), maxExpansion)
		if s.bound(r.Orig) > maxPattern {
			return maxExpansion + 1
		}
	}
	return min(n, maxExpansion+1)
}
