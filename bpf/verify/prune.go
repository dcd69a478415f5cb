package verify

import (
	"fmt"
	"slices"
)

// keepEvery is how many instructions lie between two states that are kept, at least.
const keepEvery = 8

// looks is how many of the open states of an instruction are compared, to find endless loops. One
// that takes longer than these to come back runs into the limit of executed instructions.
const looks = 16

// keep compares the state with those that were kept at its instruction. If one that is finished
// covers it, the path ends here, and keep returns nil. Otherwise it may keep the state, and returns
// the node that the path belongs to from now on.
func (w *walk) keep(s *state, n *node) *node {
	for i := len(w.done[s.pc]) - 1; i >= 0; i-- {
		old := w.done[s.pc][i]
		m := matcher{values: &w.values}
		if !m.covers(old.state, s) {
			continue
		}
		old.hits++
		m.use(old.state, s)
		w.log.pruned(w, s)
		w.end(n, s.cost+old.worst)
		return nil
	}
	open := w.open[s.pc]
	for _, old := range open[max(0, len(open)-looks):] {
		m := matcher{exact: true, values: &w.values}
		if m.covers(old.state, s) {
			w.refuse("infinite loop detected at insn %d: a path comes back here with nothing changed", s.pc)
		}
	}
	if w.steps-n.since < keepEvery && n.parent != nil {
		return n
	}
	w.values += s.keep()
	m := &node{parent: n, state: s.clone(), left: 1, since: w.steps}
	w.open[s.pc] = append(open, m)
	w.bytes += s.bytes()
	w.states++
	w.peak = max(w.peak, w.states)
	return m
}

// end notes that a path ends, after so many instructions from the start of the walk.
func (w *walk) end(n *node, cost int) {
	n.worst = max(n.worst, cost-n.state.cost)
	if worst := n.state.cost + n.worst; worst > w.env.Limits.Worst {
		w.refuse("a path executes %d instructions, helpers by weight: expected at most %d", worst, w.env.Limits.Worst)
	}
	w.finish(n)
}

// finish counts a path as walked. States of which it was the last are finished.
func (w *walk) finish(n *node) {
	for n.left--; n.left == 0 && n.parent != nil; n.left-- {
		pc := n.state.pc
		w.open[pc] = w.open[pc][:len(w.open[pc])-1]
		w.retire(pc, n)
		worst := n.state.cost + n.worst
		n = n.parent
		n.worst = max(n.worst, worst-n.state.cost)
	}
}

// retire adds a finished state to those that are compared with. If there are too many, the one
// that was of least use goes.
func (w *walk) retire(pc int, n *node) {
	done := append(w.done[pc], n)
	if len(done) > w.env.Limits.States {
		least := 0
		for i, d := range done {
			if d.hits < done[least].hits {
				least = i
			}
		}
		w.bytes -= done[least].state.bytes()
		w.states--
		done = slices.Delete(done, least, least+1)
	}
	w.done[pc] = done
}

// crowd tells which instruction has the most states.
func (w *walk) crowd() string {
	most, at := 0, 0
	for pc := range w.open {
		if n := len(w.open[pc]) + len(w.done[pc]); n > most {
			most, at = n, pc
		}
	}
	return fmt.Sprintf("most states, %d, are kept at instruction %d", most, at)
}

// matcher compares two states. Numbers of ids differ from path to path: what counts is which
// values share one.
type matcher struct {
	exact  bool // all of it must be equal, not only what was used
	pairs  []pair
	values *int // how many were compared
}

// pair is an id of the older state, with the one that stands for it in the newer, and of numbers,
// by how much the older's add is larger.
type pair struct {
	old, now int32
	by       int64
}

// covers tells whether each path that can be taken from now, and each value on it, was seen
// when the paths from old were walked.
func (m *matcher) covers(old, now *state) bool {
	if len(old.frames) != len(now.frames) || len(old.refs) != len(now.refs) {
		return false
	}
	for i := len(old.frames) - 1; i >= 0; i-- {
		if !m.frame(old.frames[i], now.frames[i]) {
			return false
		}
	}
	for i := range old.refs {
		if !m.ids(old.refs[i].id, now.refs[i].id, 0) {
			return false
		}
	}
	return true
}

func (m *matcher) frame(old, now *frame) bool {
	if old.entry != now.entry || old.back != now.back || old.callback != now.callback || old.refs != now.refs {
		return false
	}
	for i := range old.regs {
		*m.values++
		if !m.value(&old.regs[i], &now.regs[i]) {
			return false
		}
	}
	for i := range old.slots {
		*m.values++
		if !m.slot(old.slots[i], now.slots[i]) {
			return false
		}
	}
	return true
}

// value compares two values.
func (m *matcher) value(old, now *reg) bool {
	if m.exact {
		return m.same(old, now)
	}
	switch {
	case old.kind == unset || old.from.use == unused:
		return true
	case old.kind != now.kind:
		return false
	case old.kind == number && old.from.use == read:
		return true
	case old.kind == number:
		return now.n.Within(old.n) && (old.id == 0 || m.ids(old.id, now.id, old.add-now.add))
	}
	return old.nullable == now.nullable && old.frame == now.frame && old.size == now.size && old.spec == now.spec &&
		now.n.Within(old.n) && m.ids(old.id, now.id, 0)
}

func (m *matcher) same(old, now *reg) bool {
	if old.kind != now.kind || old.nullable != now.nullable || old.frame != now.frame || old.size != now.size || old.spec != now.spec {
		return false
	}
	return old.kind == unset || old.n == now.n && (old.id == 0) == (now.id == 0) && m.ids(old.id, now.id, old.add-now.add)
}

// ids tells whether the ids fit to those that were compared before. An id that only one value has
// says nothing, so the first pair always fits.
func (m *matcher) ids(old, now int32, by int64) bool {
	if old == 0 {
		return true
	}
	for _, p := range m.pairs {
		if p.old == old {
			return now != 0 && p.now == now && p.by == by
		}
	}
	m.pairs = append(m.pairs, pair{old, now, by})
	return true
}

// slot compares two words of stack.
func (m *matcher) slot(old, now *slot) bool {
	if old == now || old == nil && !m.exact {
		return true
	}
	if old == nil || now == nil {
		return false
	}
	for i := range old.kinds {
		if !m.content(old, now, i) {
			return false
		}
	}
	for i, sp := range old.spills {
		if sp != nil && !m.spill(sp, now.spills[i]) {
			return false
		}
	}
	return true
}

// content compares a byte that no spilled value of the older state has.
func (m *matcher) content(old, now *slot, b int) bool {
	o, n := old.kinds[b], now.kinds[b]
	switch {
	case m.exact:
		return o == n
	case o == nothing || o == spilled || old.from.use == unused:
		return true
	case o == zero && old.from.use == decided:
		return now.byteIsZero(b)
	}
	return n == misc || n == zero || n == spilled && !now.hasOther()
}

// hasOther tells whether something else than numbers is spilled in the word.
func (sl *slot) hasOther() bool {
	return slices.ContainsFunc(sl.spills[:], func(sp *spill) bool { return sp != nil && sp.kind != number })
}

// spill compares two values on the stack. What is not valid any more is not read.
func (m *matcher) spill(old, now *spill) bool {
	if !m.exact && (old.kind == unset || old.from.use == unused) {
		return true
	}
	return now != nil && old.bytes == now.bytes && m.value(&old.reg, &now.reg)
}
