package tracefs

import (
	"sonde/bpf"
	"sonde/probe/program"
)

// hist counts a record; a histogram that has no room counts it as dropped.
func (c *code) hist(h *hist, over string) {
	index := c.own(ownMap{data: h.data})
	c.control(h.slot)
	c.line("r0 = *(u64 *)(r0 + 0)\nif r0 == 0 goto %s", over)
	for _, k := range h.keys {
		c.key(k)
	}
	find := func() {
		c.line("r1 = map[idx:%d]\nr2 = r7\nr2 += %d\ncall 1", index, keyAt)
	}
	add, first := c.label(), c.label()
	find()
	c.line("if r0 != 0 goto %s\n%s:", add, first)
	for at := 0; at < h.valueSize(); at += 8 {
		c.line("*(u64 *)(r7 + %d) = 0", valueAt+at)
	}
	if h.names() {
		for at := 0; at < recordAt; at += 8 {
			c.line("r1 = *(u64 *)(r7 + %d)\n*(u64 *)(r7 + %d) = r1", at, valueAt+8*(1+len(h.vals))+at)
		}
	}
	c.line("r1 = map[idx:%d]\nr2 = r7\nr2 += %d\nr3 = r7\nr3 += %d\nr4 = %d\ncall 2", index, keyAt, valueAt, program.NoExist)
	find()
	c.line("if r0 == 0 goto %s\n%s: r8 = r0\nr1 = 1\nlock *(u64 *)(r8 + 0) += r1", over, add)
	for i, v := range h.vals {
		c.number(v)
		c.line("lock *(u64 *)(r8 + %d) += r1", 8*(i+1))
	}
}

// number leaves the value of a column in r1.
func (c *code) number(k *column) {
	switch {
	case k.field != nil:
		c.line("r1 = *(%s *)(r7 + %d)", k.field.load(), recordAt+k.field.Offset)
	case k.name == "common_timestamp":
		c.line("call 5\nr1 = r0")
		if k.modifier == "usecs" {
			c.line("r1 /= 1000")
		}
	default:
		c.line("call 8\nr1 = r0")
	}
}

// key puts a part of the key after the record.
func (c *code) key(k *column) {
	at := keyAt + k.at
	switch {
	case k.modifier == "stacktrace":
		c.line("r1 = r6\nr2 = r7\nr2 += %d\nr3 = %d\nr4 = 0\ncall 67", at, k.size)
		return
	case k.field != nil && k.field.text:
		for i := 0; i < k.size; i += 8 {
			c.line("*(u64 *)(r7 + %d) = 0", at+i)
		}
		c.line("r1 = r7\nr1 += %d\nr2 = %d\nr3 = r7\nr3 += %d\ncall 115", at, min(k.size, k.field.room), recordAt+k.field.at)
		return
	}
	c.number(k)
	switch k.modifier {
	case "log2":
		c.line("call %d\nr1 = r0", bpf.HelperLog2)
	case "buckets":
		c.line("r1 /= %d\nr1 *= %d", k.width, k.width)
	}
	c.line("*(u64 *)(r7 + %d) = r1", at)
}
