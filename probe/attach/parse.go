package attach

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sonde/kernel/refusal"
	"sonde/probe/attach/quote"
)

// ParseSite reads a place as the package comment says. It does not check that the place exists.
//
// Errors: EINVAL, with what was understood and what was expected.
func ParseSite(text string) (Site, error) {
	p := parser{text: text}
	s, err := p.site(text)
	if err != nil {
		return Site{}, err
	}
	return s, p.check(s)
}

// ParseSites reads several places.
//
// Errors: those of ParseSite.
func ParseSites(places ...string) ([]Site, error) {
	sites := make([]Site, len(places))
	for i, text := range places {
		var err error
		if sites[i], err = ParseSite(text); err != nil {
			return nil, err
		}
	}
	return sites, nil
}

// ParseSiteOf reads a place of one of these kinds.
//
// Errors: those of ParseSite; EINVAL it is of another kind.
func ParseSiteOf(text string, kinds ...Kind) (Site, error) {
	s, err := ParseSite(text)
	if err != nil || slices.Contains(kinds, s.Kind) {
		return s, err
	}
	var names []string
	for _, k := range kinds {
		names = append(names, "a "+k.String())
	}
	last := len(names) - 1
	list := strings.Join(names[:last], ", ")
	if last > 0 {
		list += " or "
	}
	example := ""
	if slices.Contains(kinds, Watch) {
		example = "; give the access and what is watched, as in w@printk.consoleLevel"
	}
	return s, parser{text}.no("this is a %s, not %s%s", s.Kind, list+names[last], example)
}

// At returns the site of the kernel, or of a program's file, that is at SYMBOL[+OFFSET] or a number, which is in no quotes.
//
// Errors: EINVAL.
func (s Site) At(text string) (Site, error) {
	p := parser{text}
	if text == "" {
		return s, p.empty()
	}
	if s.Symbol, s.Offset, s.Addr = where(text); s.Kind == Program {
		s.inFile()
	}
	return s, p.check(s)
}

// inFile takes a number for an offset in the file.
func (s *Site) inFile() {
	if s.Symbol == "" {
		s.Offset, s.Addr = s.Addr, 0
	}
}

// A parser knows the whole text, for its errors.
type parser struct{ text string }

func (p parser) no(format string, args ...any) error {
	return refusal.New(syscall.EINVAL, "place %q: "+format, append([]any{p.text}, args...)...)
}

func (p parser) empty() error { return p.no("it is empty; give a function, as in vfs.Read") }

// site reads what stands before a colon, and then what that is of.
func (p parser) site(text string) (s Site, err error) {
	if name, rest, quoted := quote.Prefix(text); quoted {
		if rest, colon := strings.CutPrefix(rest, ":"); colon {
			return p.program(name, rest)
		}
		s.Symbol, s.Offset, s.Addr = where(text)
		return s, nil
	}
	head, rest, colon := strings.Cut(text, ":")
	if at := strings.IndexByte(head, '@'); at >= 0 && !strings.Contains(head[:at], "/") {
		return p.watch(text[:at], text[at+1:])
	}
	pid, number := parseNumber(head)
	switch {
	case text == "":
		return s, p.empty()
	case !colon || head == "type" || head == "go":
		s.Symbol, s.Offset, s.Addr = where(text)
		return s, nil
	case number && (pid == 0 || pid > math.MaxInt32):
		return s, p.no("%s is not the number of a process", head)
	case number:
		return p.inProcess(int(pid), rest)
	case head == "ret":
		s, err = p.site(rest)
		if err == nil && s.Return {
			err = p.no("ret: stands there twice")
		}
		s.Return = true
		return s, err
	case head == "sys":
		return Site{Kind: Call, Symbol: rest}, nil
	case head == "event":
		return Site{Kind: Event, Symbol: rest}, nil
	case head == "inline":
		return Site{Kind: Inline, Symbol: rest}, nil
	case head == "tick":
		return p.tick(rest)
	case head == "every":
		return p.every(rest)
	case strings.HasSuffix(head, ".go"):
		return p.line(head, rest)
	}
	return p.program(head, rest)
}

// inProcess reads a place of one process: what else would be of the kernel is code at an address.
func (p parser) inProcess(pid int, rest string) (Site, error) {
	s, err := p.site(rest)
	switch {
	case err != nil:
		return s, err
	case s.PID != 0:
		return s, p.no("two processes, %d and %d", pid, s.PID)
	case s.Kind == Kernel && s.Symbol != "":
		return s, p.no("%s alone is a function of the kernel; of process %d, give FILE:%s or an address", s.Symbol, pid, s.Symbol)
	case s.Kind == Kernel:
		s.Kind = Program
	}
	s.PID = pid
	return s, nil
}

func (p parser) watch(access, rest string) (s Site, err error) {
	s.Kind = Watch
	var known bool
	if s.Access, known = parseAccess(access); !known {
		return s, p.no("%q before @ is not an access; give w, rw, r or x", access)
	}
	if at := strings.LastIndexByte(rest, ':'); at >= 0 {
		n, number := parseNumber(rest[at+1:])
		switch {
		case number && (n == 0 || n > math.MaxInt32):
			return s, p.no("the length %s is not possible; give 1, 2, 4 or 8", rest[at+1:])
		case number:
			rest, s.Length = rest[:at], int(n)
		}
	}
	if file, symbol, quoted := quote.Prefix(rest); quoted && strings.HasPrefix(symbol, ":") {
		s.File, rest = file, symbol[1:]
	} else if file, symbol, ok := strings.Cut(rest, ":"); ok && !quoted && strings.Contains(file, "/") && !startsNumber(symbol) {
		s.File, rest = file, symbol
	}
	s.Symbol, s.Offset, s.Addr = where(rest)
	if strings.HasPrefix(rest, `"`) {
		return s, nil
	}
	if _, number := parseNumber(s.Symbol[strings.LastIndexByte(s.Symbol, ':')+1:]); number {
		return s, p.no("a length stands before the offset; give SYMBOL+OFFSET:LENGTH")
	}
	return s, nil
}

// startsNumber tells whether a text begins as numbers do, and names do not.
func startsNumber(text string) bool { return text == "" || text[0] >= '0' && text[0] <= '9' }

func (p parser) program(file, rest string) (Site, error) {
	if file == "" {
		return Site{}, p.no("the file before the colon is missing")
	}
	s := Site{Kind: Program, File: file}
	s.Symbol, s.Offset, s.Addr = where(rest)
	s.inFile()
	return s, nil
}

func (p parser) line(file, rest string) (Site, error) {
	n, number := parseNumber(rest)
	if !number || n == 0 || n > math.MaxInt32 {
		return Site{}, p.no("%q after %s is not the number of a line", rest, file)
	}
	return Site{Kind: Line, File: file, Line: int(n)}, nil
}

// maxHz is as often as a CPU can be interrupted and still do other work.
const maxHz = 100_000

func (p parser) tick(rest string) (Site, error) {
	digits, hz := strings.CutSuffix(rest, "hz")
	n, err := strconv.Atoi(digits)
	if !hz || err != nil || n < 1 || n > maxHz {
		return Site{}, p.no("%q is not a frequency; give tick:1hz to tick:%dhz", rest, maxHz)
	}
	return Site{Kind: Tick, Hz: n}, nil
}

// maxPeriod is as long as an interval can be: the time of its end has to fit in 64 bits.
const maxPeriod = 8760 * time.Hour // a year

func (p parser) every(rest string) (Site, error) {
	d, err := time.ParseDuration(rest)
	if err != nil || d < time.Millisecond || d > maxPeriod {
		return Site{}, p.no("%q is not an interval; give 1ms to 8760h, as in every:1s", rest)
	}
	return Site{Kind: Every, Period: d}, nil
}

// check refuses what no kind can do.
func (p parser) check(s Site) error {
	_, _, file := strings.Cut(p.text, "/")
	inner := ""
	if symbol, offset, _ := where(s.Symbol); s.Kind == Inline && offset != 0 {
		inner = symbol
	}
	switch {
	case s.Return && s.Kind != Kernel && s.Kind != Program && s.Kind != Call:
		return p.no("a %s does not return; ret: is for functions and system calls", s.Kind)
	case s.Return && s.Symbol != "" && s.Offset != 0, s.Return && s.Kind == Call && s.Symbol == "":
		return p.no("ret: is for a function, not for an instruction in it")
	case s.PID != 0 && (s.Kind == Tick || s.Kind == Every || s.Kind == Line || s.Kind == Inline || s.Kind == Event):
		return p.no("a %s is not one of process %d", s.Kind, s.PID)
	case s.Kind == Call && s.Symbol == "":
		return p.no("the name of the system call is missing, as in sys:openat")
	case s.Kind == Event && strings.Count(s.Symbol, ":") != 1:
		return p.no("give the system and the name of a tracepoint, as in event:sched:sched_switch")
	case s.Kind == Inline && s.Symbol == "":
		return p.no("the function is missing, as in inline:sync.(*Mutex).Lock")
	case s.Kind == Inline && inner != "":
		return p.no("inline: is for a function; give inline:%s", inner)
	case s.Kind == Program && s.File != "" && s.Symbol == "" && strings.HasSuffix(p.text, ":"):
		return p.no("the file %s without a function; give both, as in %s:FUNCTION", s.File, s.File)
	case s.Kind == Kernel && file && strings.HasPrefix(p.text, "/"):
		return p.no("the file %s without a function; give both, as in %s:FUNCTION", p.text, p.text)
	case s.Kind == Watch && s.File != "" && s.Symbol == "":
		return p.no("the variable of %s is missing, as in w@%s:counter", s.File, s.File)
	case s.Kind == Watch && s.Symbol == "" && s.Addr == 0:
		return p.no("what is to be watched is missing, as in w@printk.consoleLevel")
	}
	if (s.Kind == Kernel || s.Kind == Program || s.Kind == Watch) && !strings.Contains(p.text, `"`) { // what is in quotes is a name
		return p.checkName(s.Symbol)
	}
	return nil
}

// checkName refuses a name that was meant as a number, or that has a plus: where has found no number there,
// and no name has one.
func (p parser) checkName(symbol string) error {
	name, offset, plus := strings.Cut(symbol, "+")
	switch {
	case strings.HasPrefix(symbol, "0x"):
		return p.no("%q is not an address; give a hexadecimal number of at most 64 bits", symbol)
	case plus && name == "":
		return p.no("the function before %s is missing, as in vfs.Read%s", symbol, symbol)
	case plus:
		return p.no("%q behind %s+ is not an offset; give a number of bytes, as in %s+0x10", offset, name, name)
	}
	return nil
}

// where reads SYMBOL, which may be in quotes, or a number, which it returns as addr, and any number of +OFFSET or
// +OFFSET/SIZE after it. If the sum does not fit in 64 bits, all of it is a SYMBOL, which checkName refuses.
func where(text string) (symbol string, offset, addr uint64) {
	if n, number := parseNumber(text); number {
		return "", 0, n
	}
	if name, rest, quoted := quote.Prefix(text); quoted && rest == "" {
		return name, 0, 0
	}
	at := strings.LastIndexByte(text, '+')
	if at <= 0 {
		return text, 0, 0
	}
	digits, _, _ := strings.Cut(text[at+1:], "/")
	n, number := parseNumber(digits)
	if !number {
		return text, 0, 0
	}
	symbol, offset, addr = where(text[:at])
	switch most := math.MaxUint64 - n; {
	case offset > most || addr > most:
		return text, 0, 0
	case symbol == "":
		return "", 0, addr + n
	}
	return symbol, offset + n, 0
}

// parseNumber reads a number as Go writes it, or an address as lists print it: sixteen digits.
func parseNumber(s string) (uint64, bool) {
	base := 0
	if len(s) == 16 && !strings.ContainsAny(s, "xX_") {
		base = 16
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
