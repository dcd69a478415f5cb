package lang

// What a map keeps of an interval of tseries(): each interval has a key, by its number modulo how many are
// shown.
const (
	SeriesInterval = 0  // its number, counted from when the machine booted
	SeriesValue    = 8  // the value, or the sum
	SeriesCount    = 16 // how many values, of avg; of the last value, when it was
)

// addToSeries adds R0 to the interval that it is now.
func (g *generator) addToSeries(target *Expr) {
	m := target.m
	value, now, interval := g.spill(), g.push(8), g.push(8)
	if g.settings.TimeMap != "" && g.maps[g.settings.TimeMap] != nil {
		g.readMap(&Expr{Span: target.Span, Kind: MapValue, Name: g.settings.TimeMap, m: g.maps[g.settings.TimeMap], Type: int64Type})
	} else {
		g.emit("call 5")
	}
	g.emit("*(u64 *)(%s) = r0", now)
	g.load("r1", m.Value.Step)
	g.emit("r0 /= r1")
	g.emit("*(u64 *)(%s) = r0", interval)
	key := g.key(target)
	g.emit("r0 = *(u64 *)(%s)", interval)
	g.emit("r0 %%= %d", m.Value.High)
	g.emit("*(u64 *)(%s) = r0", key.plus(m.KeySize()-8))
	none, begins, end := g.newLabel(), g.newLabel(), g.newLabel()
	g.find(m, key)
	g.emit("if r0 == 0 goto %s", none)
	g.emit("r1 = *(u64 *)(%s)", value)
	g.emit("r2 = *(u64 *)(r0 + %d)", SeriesInterval)
	g.emit("r3 = *(u64 *)(%s)", interval)
	g.emit("if r2 != r3 goto %s", begins)
	g.combineSeries(m.Value, now, end)
	g.emit("goto %s", end)
	g.label(begins)
	g.emit("*(u64 *)(r0 + %d) = r3", SeriesInterval)
	g.emit("*(u64 *)(r0 + %d) = r1", SeriesValue)
	g.firstOf(m.Value, now)
	g.emit("*(u64 *)(r0 + %d) = r1", SeriesCount)
	g.emit("goto %s", end)
	g.label(none)
	first := g.push(32)
	g.zero(first, 32)
	g.copy(first.plus(SeriesInterval), interval, 8)
	g.copy(first.plus(SeriesValue), value, 8)
	g.firstOf(m.Value, now)
	g.emit("*(u64 *)(%s) = r1", first.plus(SeriesCount))
	g.update(m, key, first)
	g.label(end)
}

// firstOf leaves in R1 what goes with the first value of an interval.
func (g *generator) firstOf(t Type, now place) {
	if t.Agg == Unknown {
		g.emit("r1 = *(u64 *)(%s)", now)
	} else {
		g.emit("r1 = 1")
	}
}

// combineSeries adds R1 to the interval that R0 points to.
func (g *generator) combineSeries(t Type, now place, end string) {
	sign := pick(t.Signed, "s", "")
	g.emit("r2 = *(u64 *)(r0 + %d)", SeriesValue)
	switch t.Agg {
	case Min, Max:
		g.emit("if r1 %s%s r2 goto %s", sign, pick(t.Agg == Min, ">=", "<="), end)
	case Sum, Avg:
		g.emit("r1 += r2")
	}
	g.emit("*(u64 *)(r0 + %d) = r1", SeriesValue)
	g.emit("r1 = *(u64 *)(r0 + %d)", SeriesCount)
	g.emit("r1 += 1")
	if t.Agg == Unknown {
		g.emit("r1 = *(u64 *)(%s)", now)
	}
	g.emit("*(u64 *)(r0 + %d) = r1", SeriesCount)
}
