package tally

import (
	"slices"
	"sort"
	"sync/atomic"
)

// Counts counts how often each key came. A key is one word or several: a value, a stack, a
// function and a bucket.
type Counts struct {
	words int
	parts []part
	lost  atomic.Uint64
}

// part has a CPU's keys. Only that CPU adds to it as a rule, so that CPUs do not wait for each
// other's caches; but all accesses are atomic, because handlers interrupt each other, and a
// handler in a goroutine may continue on another CPU.
type part struct {
	slots []slot
	keys  []uintptr // room for the key of each slot
}

type slot struct {
	count atomic.Uint64 // 0: the key is not whole yet
	taken atomic.Bool
	n     int // words of the key
}

// NewCounts makes counts for so many CPUs, with keys of at most so many words. Each CPU tells
// apart room keys, a power of two.
func NewCounts(cpus, words, room int) *Counts {
	t := &Counts{words: words, parts: make([]part, cpus)}
	for i := range t.parts {
		t.parts[i] = part{make([]slot, room), make([]uintptr, room*words)}
	}
	return t
}

// Add counts a key, of which only the first words count if it is too long. Which CPU's part
// counts it makes no difference to All.
//
// Context: any; it allocates nothing.
func (t *Counts) Add(cpu int, key ...uintptr) {
	key = key[:min(len(key), t.words)]
	p := &t.parts[cpu]
	at := 0
	for _, w := range key {
		at = int((uintptr(at) ^ w) * 0x9e3779b97f4a7c15)
	}
	at = int(uintptr(at) >> 32)
	for i := range p.slots {
		if p.count((at+i)&(len(p.slots)-1), t.words, key) {
			return
		}
	}
	t.lost.Add(1)
}

// count counts key in slot i if that has the key or is free.
func (p *part) count(i, words int, key []uintptr) bool {
	s, has := &p.slots[i], p.keys[i*words:][:words]
	// A slot that is being taken is not looked at: All adds up what is there twice.
	if s.count.Load() > 0 && s.n == len(key) && equal(has, key) {
		s.count.Add(1)
		return true
	}
	if s.taken.Load() || !s.taken.CompareAndSwap(false, true) {
		return false
	}
	s.n = copy(has, key)
	s.count.Add(1)
	return true
}

// equal reports whether has begins with key.
func equal(has, key []uintptr) bool {
	for i, w := range key {
		if has[i] != w {
			return false
		}
	}
	return true
}

// Lost is how many keys there was no room for.
func (t *Counts) Lost() uint64 { return t.lost.Load() }

// A Count is a key and how often it came.
type Count struct {
	Key   []uintptr
	Count uint64
}

// All returns the counts of all CPUs, the most frequent key first.
func (t *Counts) All() []Count {
	var all []Count
	for _, p := range t.parts {
		for i := range p.slots {
			s := &p.slots[i]
			if n := s.count.Load(); n > 0 {
				all = append(all, Count{slices.Clone(p.keys[i*t.words:][:s.n]), n})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return slices.Compare(all[i].Key, all[j].Key) < 0 })
	merged := all[:0]
	for _, c := range all {
		if n := len(merged); n > 0 && slices.Equal(merged[n-1].Key, c.Key) {
			merged[n-1].Count += c.Count
			continue
		}
		merged = append(merged, c)
	}
	sort.SliceStable(merged, func(i, j int) bool { return merged[i].Count > merged[j].Count })
	return merged
}
