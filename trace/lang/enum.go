package lang

// Enum is a type whose numbers have names.
type Enum struct {
	Name  string
	Names map[int64]string
	value map[string]int64
}

// enum reads "enum name { A, B = 5 }"; the token after it comes next.
func (p *parser) enum(s *Script) {
	p.advance()
	e := &Enum{Names: map[int64]string{}, value: map[string]int64{}}
	if p.tok.kind == word {
		e.Name = p.word("a name").text
	}
	p.expect("{")
	for next := int64(0); !p.tok.is("}"); next++ {
		name := p.word("a name")
		if p.accept("=") {
			next = p.enumValue(s)
		}
		if _, twice := s.enumerator(name.text); twice {
			p.fail(name.Span, "%s is declared a second time", name.text)
		}
		if _, twice := e.value[name.text]; twice {
			p.fail(name.Span, "%s is declared a second time", name.text)
		}
		e.value[name.text] = next
		if e.Names[next] == "" {
			e.Names[next] = name.text
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	s.Enums = append(s.Enums, e)
}

func (p *parser) enumValue(s *Script) int64 {
	sign := int64(1)
	if p.accept("-") {
		sign = -1
	}
	t := p.tok
	p.advance()
	if e, ok := s.enumerator(t.text); ok && t.kind == word {
		return sign * e.value[t.text]
	}
	if t.kind != number {
		p.fail(t.Span, "the value of an enumerator is a number")
	}
	return sign * int64(t.value)
}

// states are names of Linux's headers for what sched_switch says of the task that it leaves.
var states = &Enum{Name: "task_state", value: map[string]int64{"TASK_RUNNING": 0, "TASK_INTERRUPTIBLE": 1, "TASK_UNINTERRUPTIBLE": 2},
	Names: map[int64]string{0: "TASK_RUNNING", 1: "TASK_INTERRUPTIBLE", 2: "TASK_UNINTERRUPTIBLE"}}

// enumerator returns the enum that has a name.
func (s *Script) enumerator(name string) (*Enum, bool) {
	for _, e := range s.Enums {
		if _, ok := e.value[name]; ok {
			return e, true
		}
	}
	return nil, false
}

func (s *Script) enumOf(name string) *Enum {
	for _, e := range s.Enums {
		if e.Name == name && name != "" {
			return e
		}
	}
	return nil
}
