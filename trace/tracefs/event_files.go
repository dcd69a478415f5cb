package tracefs

import (
	"fmt"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
)

// eventsFolder has a folder for each system, with one for each event.
func (i *instance) eventsFolder() vfs.Node {
	return folder(func() []string { return append(systems(), "enable", "header_event", "header_page") }, func(name string) vfs.Node {
		switch name {
		case "enable":
			return i.enableFile("*:*")
		case "header_event":
			return file{read: func() string { return headerEvent }}
		case "header_page":
			return file{read: func() string { return headerPage }}
		}
		if !isSystem(name) {
			return nil
		}
		return i.systemFolder(name)
	})
}

func (i *instance) systemFolder(system string) vfs.Node {
	return folder(func() []string { return append(eventsOf(system), "enable", "filter") }, func(name string) vfs.Node {
		switch name {
		case "enable":
			return i.enableFile(system + ":*")
		case "filter":
			return file{read: func() string {
				return "### global filter ###\n# Use this to set filters for multiple events.\n# Only events with the given fields will be affected.\n# If no events are modified, an error message will be displayed here\n"
			},
				write: func(text string) error { return i.filterAll(system, text) }}
		}
		if e := find(system, name); e != nil {
			return i.eventFolder(e)
		}
		return nil
	})
}

// enableFile enables all events that a pattern fits. It says 1, 0, X if some are, or ? if there are none.
func (i *instance) enableFile(pattern string) vfs.Node {
	return file{
		read: func() string {
			on, off := 0, 0
			for _, full := range eventNames() {
				if kallsyms.Fits(pattern, full) {
					off++
				}
			}
			for e, s := range i.states {
				if s.on && kallsyms.Fits(pattern, e.String()) {
					on, off = on+1, off-1
				}
			}
			return map[[2]bool]string{{true, true}: "X\n", {true, false}: "1\n", {false, true}: "0\n", {false, false}: "?\n"}[[2]bool{on > 0, off > 0}]
		},
		write: onOff(nil, func(on bool) error { return i.enableAll(pattern, on) }).write,
	}
}

// filterAll sets the filter of all events of a system whose fields it names.
func (i *instance) filterAll(system, text string) error {
	set := false
	for _, name := range eventsOf(system) {
		if e := find(system, name); e != nil && i.state(e).setFilter(text) == nil {
			set = true
		}
	}
	if !set {
		return i.report("event filter parse error", text, wrong(0, "Couldn't find or set field in one of a subsystem's events"))
	}
	return nil
}

func (i *instance) eventFolder(e *event) vfs.Node {
	nodes := map[string]vfs.Node{
		"format": file{read: e.format},
		"filter": file{read: func() string { return i.filterOf(e) + "\n" }, write: func(text string) error {
			return i.report("event filter parse error", text, i.state(e).setFilter(text))
		}},
		"id": file{read: func() string { return fmt.Sprintf("%d\n", e.id) }},
	}
	nodes["trigger"] = file{read: func() string { return i.states[e].triggersText() }, write: func(text string) error {
		return i.report("hist:"+e.String(), text, i.state(e).setTrigger(text))
	}, clear: func() error { return nil }}
	nodes["hist"] = file{read: func() string { return i.states[e].tables() }}
	if e != printEvent {
		nodes["enable"] = file{read: func() string { return i.enabled(e) }, write: onOff(nil, func(on bool) error {
			var c change
			defer c.complete()
			return i.state(e).enable(&c, on)
		}).write}
	}
	return fixed(nodes)
}

func (i *instance) filterOf(e *event) string {
	if s := i.states[e]; s != nil && s.filter != "" {
		return s.filter
	}
	return "none"
}

// enabled is what the file enable says: with a star, triggers switch the event on and off.
func (i *instance) enabled(e *event) string {
	s := i.states[e]
	if s == nil {
		return "0\n"
	}
	on := s.on
	if s.slot != 0 {
		on = i.get(s.slot+1) != 0
	}
	state := "0"
	if on {
		state = "1"
	}
	if s.wanted > 0 {
		state += "*"
	}
	return state + "\n"
}
