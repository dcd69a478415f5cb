package gotypes

import (
	"cmp"
	"slices"
)

// pool numbers what is referred to. What is used only once is not numbered: it is the next of these.
type pool[T cmp.Ordered] struct {
	uses  map[T]int
	rank  map[T]int
	often []T
	once  []T
}

func (p *pool[T]) use(v T) {
	if p.uses == nil {
		p.uses = map[T]int{}
	}
	p.uses[v]++
}

// number gives the lowest numbers to what is used most.
func (p *pool[T]) number() {
	p.rank = map[T]int{}
	for v, n := range p.uses {
		if n > 1 {
			p.often = append(p.often, v)
		}
	}
	slices.SortFunc(p.often, func(a, b T) int { return cmp.Or(cmp.Compare(p.uses[b], p.uses[a]), cmp.Compare(a, b)) })
	for i, v := range p.often {
		p.rank[v] = i + 1
	}
}

// ref returns the number of v; 0: it is the next one.
func (p *pool[T]) ref(v T) uint64 {
	r := p.rank[v]
	if r == 0 {
		p.once = append(p.once, v)
	}
	return uint64(r)
}
