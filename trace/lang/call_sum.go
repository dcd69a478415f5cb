package lang

import (
	"fmt"
	"time"
)

// aggregates are the functions that only maps keep.
var aggregates = map[string]Kind{"count": Count, "sum": Sum, "min": Min, "max": Max, "avg": Avg, "stats": Stats, "hist": Hist, "lhist": LHist, "tseries": TSeries}

func (c *checker) aggregate(e *Expr) Type {
	t := Type{Kind: aggregates[e.Name], Signed: true}
	for _, a := range e.Args[:min(1, len(e.Args))] {
		t.Signed = c.number(a).Signed
	}
	return t
}

// call is an aggregation with its numbers, as scripts have it.
func (t Type) call() string {
	switch t.Kind {
	case Hist:
		return fmt.Sprintf("hist(…, %d)", t.Bits)
	case LHist:
		return fmt.Sprintf("lhist(…, %d, %d, %d)", t.Low, t.High, t.Step)
	}
	return fmt.Sprintf("tseries(…, %s, %d%s)", time.Duration(t.Step), t.High, pick(t.Agg == Unknown, "", fmt.Sprintf(", %q", t.Agg)))
}

// hist has 1<<bits buckets for each power of 2.
func (c *checker) hist(e *Expr) Type {
	t := c.aggregate(e)
	if len(e.Args) > 1 {
		n, ok := c.constant(e.Args[1])
		if !ok || n < 0 || n > 5 {
			c.fail(e.Args[1].Span, "hist() needs a number of bits that is written out here, from 0 to 5")
		}
		t.Bits = int(n)
	}
	return t
}

// percentiles takes a map of hist().
func (c *checker) percentiles(e *Expr) Type {
	c.wholeMap(e, e.Args[0])
	if m := e.m; c.final && m != nil && m.Value.Kind != Hist {
		c.fail(e.Span, "percentiles() needs a map of hist(), and %s keeps %s", m.Name, m.Value)
	}
	return voidType
}

// tseries keeps one number for each interval of time: tseries(value, interval, count, "avg").
func (c *checker) tseries(e *Expr) Type {
	t := c.aggregate(e)
	var ok, too bool
	t.Step, ok = c.constant(e.Args[1])
	t.High, too = c.constant(e.Args[2])
	switch {
	case !ok || t.Step < 1:
		c.fail(e.Args[1].Span, "tseries() needs an interval that is written out here, such as 100ms")
	case !too || t.High < 1 || t.High > 1000:
		c.fail(e.Args[2].Span, "tseries() needs a number of intervals that is written out here, from 1 to 1000")
	case len(e.Args) < 4:
		return t
	}
	name := c.literal(e, 3)
	if t.Agg = aggregates[name]; t.Agg < Sum || t.Agg > Avg {
		c.fail(e.Args[3].Span, "tseries() keeps the sum, min, max or avg of an interval, and not %q", printable(name))
	}
	return t
}

func (c *checker) lhist(e *Expr) Type {
	t := c.aggregate(e)
	for i, to := range []*int64{&t.Low, &t.High, &t.Step} {
		n, ok := c.constant(e.Args[i+1])
		if !ok {
			c.fail(e.Args[i+1].Span, "lhist() needs numbers that are written out here: lhist(value, low, high, step)")
		}
		*to = n
	}
	switch {
	case t.Step <= 0:
		c.fail(e.Span, "the step of lhist() is above 0, and this is %d", t.Step)
	case t.Low >= t.High:
		c.fail(e.Span, "lhist() goes from %d to %d: the second number must be the larger one", t.Low, t.High)
	case t.Low < -1<<31 || t.High >= 1<<31 || (t.High-t.Low)/t.Step > 1000:
		c.fail(e.Span, "lhist() has at most 1000 steps, and numbers of 32 bits")
	}
	return t
}
