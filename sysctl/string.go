package sysctl

import (
	"strings"
	"sync/atomic"
)

// String is a word or line of text.
type String struct {
	head
	def   string
	value atomic.Pointer[string]
	valid func(string) error
}

// NewString registers a text. valid, if not nil, returns an error for a text that is to be refused.
func NewString(name, def, doc string, valid func(string) error) *String {
	s := &String{head: head{name, doc}, def: def, valid: valid}
	s.value.Store(&def)
	register(s)
	return s
}

// String returns the value.
func (s *String) String() string { return s.Get() }

// Default returns the first value.
func (s *String) Default() string { return s.def }

// Set takes any one line that is valid.
//
// Errors: EINVAL, and that of valid.
func (s *String) Set(text string) error {
	if strings.ContainsAny(text, "\n\x00") {
		return s.refuse(text, "one line")
	}
	setMu.Lock()
	defer setMu.Unlock()
	if s.valid != nil {
		if err := s.valid(text); err != nil {
			return err
		}
	}
	s.value.Store(&text)
	return nil
}
