package tracefs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
	tracepoints "sonde/probe/event"
)

// A probe is a line of kprobe_events, uprobe_events or dynamic_events: a place, and what is recorded there.
type probe struct {
	event  *event
	kind   byte // p, r or e
	user   bool // the place is in programs
	place  string
	active int // at returns: calls at the same time, 0: as many as usual
	site   attach.Site
	args   []*arg
	size   int // of the record

	attached *event // of an event probe: the event whose record has the arguments
}

// Longest names, as in Linux.
const (
	longestName = 63
	longestArg  = 31
	mostArgs    = 128
	mostActive  = 4096
)

// String is the line, as the files list it.
func (p *probe) String() string {
	var b strings.Builder
	b.WriteByte(p.kind)
	if p.active > 0 {
		fmt.Fprint(&b, p.active)
	}
	fmt.Fprintf(&b, ":%s/%s %s", p.event.system, p.event.name, p.place)
	for _, a := range p.args {
		fmt.Fprintf(&b, " %s=%s", a.name, a.text)
	}
	return b.String()
}

// A word is one of a command, with its place there.
type word struct {
	text string
	at   int
}

// words are what blanks separate; quotes keep blanks.
func words(command string) (all []word) {
	start, quoted := -1, false
	for i := 0; i <= len(command); i++ {
		blank := i == len(command) || (command[i] == ' ' || command[i] == '\t') && !quoted
		switch {
		case blank && start >= 0:
			all = append(all, word{command[start:i], start})
			start = -1
		case !blank && start < 0:
			start = i
		}
		if i < len(command) && command[i] == '"' {
			quoted = !quoted
		}
	}
	return all
}

// parseProbe reads a line that makes a probe. user says whether a place without a file is refused.
func parseProbe(command string, user bool) (p *probe, group, name string, err error) {
	all := words(command)
	if len(all) < 2 {
		return nil, "", "", syscall.ECANCELED
	}
	p = &probe{kind: all[0].text[0], user: user}
	head, given, named := strings.Cut(all[0].text[1:], ":")
	if head != "" {
		if err := p.maxActive(head); err != nil {
			return nil, "", "", err
		}
	}
	nameAt := len(all[0].text) - len(given)
	if p.kind == 'e' {
		err = p.attachTo(all[1])
	} else if user {
		err = p.inProgram(all[1])
	} else {
		err = p.inKernel(all[1])
	}
	if err != nil {
		return nil, "", "", err
	}
	group, name = p.defaults()
	if named {
		if group, name, err = names(given, nameAt, group, name); err != nil {
			return nil, "", "", err
		}
	}
	return p, group, name, p.arguments(all[2:])
}

func (p *probe) maxActive(text string) error {
	n, err := strconv.ParseUint(text, 0, 32)
	switch {
	case p.kind != 'r':
		return wrong(1, "Maxactive is not for kprobe")
	case err != nil || n == 0:
		return wrong(1, "Invalid maxactive number")
	case n > mostActive:
		return &mistake{1, "Maxactive is too big", syscall.E2BIG}
	}
	p.active = int(n)
	return nil
}

// defaults are the names of an event that is given none.
func (p *probe) defaults() (group, name string) {
	switch {
	case p.kind == 'e':
		return "eprobes", p.attached.name
	case p.user:
		file := p.site.File[strings.LastIndexByte(p.site.File, '/')+1:]
		stem, _, _ := strings.Cut(strings.Map(inName, file), "_")
		if stem == "" {
			stem = strings.Map(inName, file)
		}
		return "uprobes", fmt.Sprintf("%c_%s_0x%x", p.kind, stem, p.site.Offset)
	case p.site.Symbol == "":
		return "kprobes", fmt.Sprintf("%c_0x%x", p.kind, p.site.Addr)
	}
	return "kprobes", strings.Map(inName, fmt.Sprintf("%c_%s_%d", p.kind, strings.Split(p.place, "+")[0], p.site.Offset))
}

// inName is what a name has instead of a character.
func inName(c rune) rune {
	if c < 0x80 && (c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z') {
		return c
	}
	return '_'
}

func isName(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && strings.Map(inName, s) == s
}

// names reads [GROUP/][EVENT], which stands at a place of the command.
func names(given string, at int, group, name string) (string, string, error) {
	slash := strings.IndexByte(given, '/')
	if slash < 0 {
		slash = strings.IndexByte(given, '.')
	}
	if slash >= 0 {
		group = given[:slash]
		if err := fine(at, "Group", group, longestName); err != nil {
			return "", "", err
		}
		if given, at = given[slash+1:], at+slash+1; given == "" {
			return group, name, nil
		}
	}
	return group, given, fine(at, "Event", given, longestName)
}

// fine returns what is wrong with the name of something, which stands at a place of the command.
func fine(at int, what, name string, most int) error {
	switch {
	case name == "":
		return wrong(at, what+" name is not specified")
	case len(name) > most:
		return wrong(at, what+" name is too long")
	case !isName(name):
		return wrong(at, what+" name must follow the same rules as C identifiers")
	}
	return nil
}

// inKernel reads [MOD:]SYM[+OFFSET][%return] or ADDR.
func (p *probe) inKernel(w word) error {
	text := w.text
	if i := strings.IndexByte(text, '%'); i >= 0 {
		if text[i:] != "%return" {
			return wrong(w.at+i, "Invalid probed address suffix")
		}
		text = text[:i]
		p.kind = 'r'
	}
	p.place = text
	bad := &mistake{w.at, "Invalid probed address or symbol", 0}
	symbol := text
	if i := strings.IndexByte(text, '+'); i >= 0 {
		off, err := strconv.ParseUint(text[i+1:], 0, 32)
		if err != nil {
			return bad
		}
		symbol, p.site.Offset = text[:i], off
	}
	if addr, err := strconv.ParseUint(symbol, 0, 64); err == nil {
		p.site.Addr, p.site.Offset = addr+p.site.Offset, 0
	} else {
		if strings.ContainsAny(symbol, "-*?[") && !strings.Contains(symbol, "(") {
			return bad
		}
		table := kallsyms.Kernel()
		s, err := table.Resolve(symbol)
		if errors.Is(err, kallsyms.ErrAmbiguous) {
			return &mistake{w.at, "The symbol is not unique", syscall.EADDRNOTAVAIL}
		}
		if err != nil || !s.IsText() {
			bad.errno = syscall.ENOENT
			return bad
		}
		p.site.Symbol = symbol
	}
	if p.kind == 'r' {
		if p.site.Return = true; p.site.Offset != 0 {
			return wrong(w.at, "Retprobe address must be an function entry")
		}
	}
	return nil
}

// isProgramFile tells whether a file has pages, as control files have not. Called without mu.
func isProgramFile(path string) (is bool, err error) {
	info, err := vfs.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := vfs.Open(path, vfs.O_RDONLY|vfs.O_NONBLOCK)
	if err != nil {
		return false, err
	}
	defer vfs.Close(f)
	_, err = f.Backing()
	return err == nil, nil
}

// inProgram reads PATH:OFFSET[(REFCTR)][%return].
func (p *probe) inProgram(w word) error {
	p.site.Kind = attach.Program
	colon := strings.LastIndexByte(w.text, ':')
	if colon < 0 || w.text[0] != '/' {
		return syscall.ECANCELED
	}
	mu.Unlock() // the path may lead through these files, which take it
	is, err := isProgramFile(w.text[:colon])
	mu.Lock()
	switch {
	case err != nil:
		return &mistake{w.at, "Failed to find the given file", syscall.ENOENT}
	case !is:
		return wrong(w.at, "Not a regular file")
	}
	p.place, p.site.File = w.text, w.text[:colon]
	text, at := w.text[colon+1:], w.at+colon+1
	if i := strings.IndexByte(text, '('); i >= 0 {
		j := strings.IndexByte(text, ')')
		switch {
		case j < 0:
			return wrong(at+len(text), "Reference counter brace is not closed")
		case text[j+1:] != "":
			return wrong(at+j+1, "Reference counter has wrong suffix")
		}
		if _, err := strconv.ParseUint(text[i+1:j], 0, 64); err != nil {
			return wrong(at+i+1, "Invalid reference counter offset")
		}
		text = text[:i]
	} else if i := strings.IndexByte(text, '%'); i >= 0 {
		if text[i:] != "%return" {
			return wrong(at+i, "Invalid probed address suffix")
		}
		p.kind, p.place = 'r', strings.TrimSuffix(p.place, "%return")
		text = text[:i]
	}
	off, err := strconv.ParseUint(text, 0, 63)
	if err != nil {
		return wrong(at, "Invalid uprobe offset")
	}
	p.site.Offset, p.site.Return = off, p.kind == 'r'
	return nil
}

// attachTo reads SYSTEM/EVENT of an event probe.
func (p *probe) attachTo(w word) error {
	system, name, ok := strings.Cut(w.text, "/")
	if !ok {
		system, name, ok = strings.Cut(w.text, ".")
	}
	if !ok || system == "" || name == "" {
		return wrong(w.at, "This requires both group and event name to attach")
	}
	if p.attached = find(system, name); p.attached == nil || p.attached.kind() == 'e' {
		return wrong(w.at, "Attached event does not exist")
	}
	p.place = system + "." + name
	return nil
}

// arguments reads what is recorded, and lays the record out.
func (p *probe) arguments(all []word) error {
	if p.kind == 'e' && len(all) > 0 && all[0].text == "if" {
		return wrong(len(all[0].text)+all[0].at+1, "No filter rule after 'if'")
	}
	if len(all) > mostArgs {
		return wrong(all[mostArgs].at, "Too many arguments are specified")
	}
	for i, w := range all {
		a, err := p.argument(w, i)
		if err != nil {
			return err
		}
		for _, other := range p.args {
			if other.name == a.name {
				return wrong(w.at, "This argument name is already used")
			}
		}
		p.args = append(p.args, a)
	}
	if !p.layout() {
		return &mistake{all[0].at, "Too many arguments are specified", syscall.E2BIG}
	}
	return nil
}

// mostRecord is how many bytes a record of a probe can have.
const mostRecord = 4096

// layout gives each argument its place: numbers in order, and after them room for the texts. It reports whether there
// is room for all.
func (p *probe) layout() bool {
	at := commonSize + 8*len(p.head())
	texts := 0
	for _, a := range p.args {
		size := a.typ.size
		at = (at + size - 1) / size * size
		a.offset = at
		at += size * max(1, a.count)
		if a.typ.text {
			texts += max(1, a.count)
		}
	}
	p.size = (at + 7) / 8 * 8
	if texts == 0 {
		return p.size <= mostRecord
	}
	room := min(longestText, (mostRecord-p.size)/texts/8*8)
	if room < 8 {
		return false
	}
	for _, a := range p.args {
		if a.typ.text {
			a.at, a.room = p.size, room
			p.size += room * max(1, a.count)
		}
	}
	return true
}

// head are the fields of a probe before its arguments.
func (p *probe) head() []field {
	address := func(name string, i int) field {
		return field{base: 'p', Field: tracepoints.Field{Name: name, Type: "unsigned long", Offset: commonSize + 8*i, Size: 8}}
	}
	switch {
	case p.kind == 'e':
		return nil
	case p.kind == 'r':
		return []field{address("__probe_func", 0), address("__probe_ret_ip", 1)}
	}
	return []field{address("__probe_ip", 0)}
}
