package export

import (
	"fmt"
	"io"

	"sonde/trace/out"
)

// chrome is the format of chrome://tracing: an object with a list of events.
type chrome struct {
	w     io.Writer
	begun bool
	named names
}

// event writes an object of the list.
func (c *chrome) event(format string, args ...any) error {
	before := ",\n"
	if !c.begun {
		c.begun, before = true, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
	}
	_, err := fmt.Fprintf(c.w, before+"{"+format+"}", args...)
	return err
}

func (c *chrome) Event(e *Event) error {
	if err := c.name(e); err != nil {
		return err
	}
	scope := ""
	if e.Phase == 'i' {
		scope = `,"s":"t"` // of its thread
	}
	return c.event(`"name":%s,"ph":"%c","ts":%s,"pid":%d,"tid":%d%s,"args":{"says":%s,"cpu":%d}`, out.Quote(e.Name), e.Phase, micros(e.At), e.PID, e.TID, scope, out.Quote(e.Text), e.CPU)
}

// micros is a time in µs.
func micros(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

// name names the process and the thread of an event, the first time and when they have another name.
func (c *chrome) name(e *Event) error {
	const says = `"name":"%s","ph":"M","pid":%d,"tid":%d,"args":{"name":%s}`
	if c.named.process(e) {
		if err := c.event(says, "process_name", e.PID, e.PID, out.Quote(e.processName())); err != nil {
			return err
		}
	}
	if c.named.thread(e) {
		return c.event(says, "thread_name", e.PID, e.TID, out.Quote(e.threadName()))
	}
	return nil
}

func (c *chrome) Stack(*out.StackCount) error { return nil }

func (c *chrome) Point(p *out.SeriesPoint) error {
	value := fmt.Sprint(p.Value)
	if p.Unsigned {
		value = fmt.Sprint(uint64(p.Value))
	}
	return c.event(`"name":%s,"ph":"C","ts":%s,"pid":0,"args":{"value":%s}`, out.Quote(p.Name), micros(p.At), value)
}

func (c *chrome) Close() error {
	head := ""
	if !c.begun {
		head = `{"displayTimeUnit":"ns","traceEvents":[`
	}
	_, err := io.WriteString(c.w, head+"\n]}\n")
	return err
}
