package sysctl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
)

// Int is a number within bounds.
type Int struct {
	head
	def, min, max int64
	value         atomic.Int64
	changed       func(int64) error
}

// NewInt registers a number of any size.
func NewInt(name string, def int64, doc string) *Int {
	return NewRange(name, def, math.MinInt64, math.MaxInt64, doc)
}

// NewRange registers a number from min to max.
func NewRange(name string, def, min, max int64, doc string) *Int {
	i := &Int{head: head{name, doc}, def: def, min: min, max: max}
	i.value.Store(def)
	register(i)
	return i
}

// OnChange is as for Bool.
func (i *Int) OnChange(f func(v int64) error) *Int {
	setMu.Lock()
	defer setMu.Unlock()
	i.changed = f
	return i
}

// String returns the value as text.
func (i *Int) String() string { return strconv.FormatInt(i.Get(), 10) }

// Default returns the first value as text.
func (i *Int) Default() string { return strconv.FormatInt(i.def, 10) }

// Set takes a number, decimal or with 0x.
//
// Errors: EINVAL, and that of the hook (wrapped).
func (i *Int) Set(text string) error {
	v, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64)
	if err != nil {
		return i.refuse(text, "a number")
	}
	return i.Store(v)
}

// Store sets the number. Setting what it is already calls no hook.
//
// Context: goroutine; takes setMu.
// Errors:  EINVAL, and that of the hook (wrapped).
func (i *Int) Store(v int64) error {
	if v < i.min || v > i.max {
		return i.refuse(strconv.FormatInt(v, 10), fmt.Sprintf("from %d to %d", i.min, i.max))
	}
	setMu.Lock()
	defer setMu.Unlock()
	old := i.value.Swap(v)
	if old == v || i.changed == nil {
		return nil
	}
	if err := i.changed(v); err != nil {
		i.value.Store(old)
		return err
	}
	return nil
}
