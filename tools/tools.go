// Package tools has ready-made scripts in bpftrace's language, each of which is a command of the shell.
//
// A script begins with comments: its name and parameters, as in argdist FUNCTION [VALUE=arg0], where what is
// in brackets may be left out; what it does; and what it prints at its end, each interval anew with -i. $1, $2 and
// so on in it are replaced by its parameters, which may be any part of a script. Where it says kprobe:$1, the
// parameter is a place, or several with commas between them, which may be of a program: kprobe becomes uprobe then,
// and $stack ustack. $thread is who calls: of a Go program, the goroutine. $filter is the condition that users give
// for what is to be counted.
package tools

import (
	"embed"
	"fmt"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/attach/quote"
	"sonde/trace/lang"
)

//go:embed *.bt
var files embed.FS

// A Tool is a script.
type Tool struct {
	Name   string
	Usage  string   // its parameters
	Help   string   // what it does
	prints []string // calls, each of one map
	params []param
	text   string
}

type param struct {
	name, otherwise string
	optional        bool
}

// All returns the tools by name.
func All() (all []Tool) {
	entries, _ := files.ReadDir(".") // embedded: it is there
	for _, e := range entries {
		text, _ := files.ReadFile(e.Name())
		all = append(all, parse(string(text)))
	}
	return all
}

// parse reads the comments at the beginning of a script.
func parse(text string) Tool {
	head, body, _ := strings.Cut(text, "\n")
	name, usage, _ := strings.Cut(strings.TrimPrefix(head, "// "), " ")
	t := Tool{Name: name, Usage: usage}
	for _, word := range strings.Fields(usage) {
		p := param{name: word}
		if inner, ok := strings.CutPrefix(word, "["); ok {
			p.optional = true
			p.name, p.otherwise, _ = strings.Cut(strings.TrimSuffix(inner, "]"), "=")
		}
		t.params = append(t.params, p)
	}
	help, body, _ := strings.Cut(body, "\n")
	t.Help = strings.TrimPrefix(help, "// ")
	if maps, rest, ok := strings.Cut(body, "\n"); ok && strings.HasPrefix(maps, "// ends with ") {
		t.prints, body = strings.Fields(strings.TrimPrefix(maps, "// ends with ")), rest
	}
	t.text = body
	return t
}

// Script returns the script with its parameters. Only what fits a filter in bpftrace's language is counted, if that is
// not "". With seconds not 0, it prints what came in each interval of so many.
//
// Errors: EINVAL a parameter is missing or no place, or there are too many, or the tool has nothing to print at
// intervals.
func (t *Tool) Script(args []string, filter string, seconds int) (string, error) {
	if len(args) > len(t.params) {
		return "", refusal.New(syscall.EINVAL, "%q is one argument too many: give %s", args[len(t.params)], strings.TrimSpace(t.Name+" "+t.Usage))
	}
	text := t.text
	for i := len(t.params) - 1; i >= 0; i-- {
		p, value := t.params[i], ""
		switch {
		case i < len(args):
			value = args[i]
		case p.optional:
			value = p.otherwise
		default:
			return "", refusal.New(syscall.EINVAL, "%s is missing: %s %s", p.name, t.Name, t.Usage)
		}
		var err error
		if text, err = replace(text, fmt.Sprintf("$%d", i+1), value); err != nil {
			return "", err
		}
	}
	text = config + filtered(text, filter)
	if len(t.prints) > 0 {
		text += "END { " + strings.Join(t.prints, "; ") + "; }\n"
	}
	if seconds == 0 {
		return text, nil
	}
	if len(t.prints) == 0 {
		return "", refusal.New(syscall.EINVAL, "%s prints things as they happen: -i is for tools that count", t.Name)
	}
	text += fmt.Sprintf("interval:s:%d { time(\"%%H:%%M:%%S\\n\");", seconds)
	for _, call := range t.prints {
		text += fmt.Sprintf(" %s; clear%s;", call, call[strings.Index(call, "("):])
	}
	return text + " }\n", nil
}

// config is that of all tools: a pattern may stand for the whole kernel, and what a tool needs for itself is not printed.
const config = "config = { max_probes = 30000; print_maps_on_exit = false; }\n"

// replace has a script use the value of a parameter.
//
// Errors: EINVAL it must be a place, and is none.
func replace(text, param, value string) (string, error) {
	if kprobe, kretprobe := "kprobe:"+param, "kretprobe:"+param; strings.Contains(text, kprobe) {
		kinds := []attach.Kind{attach.Kernel, attach.Program}
		if !strings.Contains(text, kretprobe) {
			kinds = append(kinds, attach.Line, attach.Inline)
		}
		var provider string
		places := quote.Split(value, ",", 0)
		for i, place := range places {
			of, bare, err := placeOf(place, kinds...)
			if err != nil {
				return "", err
			}
			if i > 0 && of != provider {
				return "", refusal.New(syscall.EINVAL, "%s is of another kind than what stands before it: give places of one kind", place)
			}
			provider, places[i] = of, bare
		}
		stack, thread := "kstack", "tid"
		if provider == "uprobe" {
			stack, thread = "ustack", "(pid, ugoid)"
		}
		returns := provider[:1] + "retprobe:"
		text = strings.NewReplacer(kprobe, list(provider+":", places), kretprobe, list(returns, places), "$stack", stack, "$thread", thread).Replace(text)
	}
	return strings.ReplaceAll(text, param, value), nil
}

// list is a script's list of places.
func list(provider string, places []string) string {
	return provider + strings.Join(places, ","+provider)
}

// placeOf cuts the provider off a place, which may be left out.
//
// Errors: EINVAL it is of none of the kinds.
func placeOf(text string, kinds ...attach.Kind) (provider, place string, err error) {
	first, rest, _ := strings.Cut(text, ":")
	switch p := lang.Provider(first); p {
	case "kprobe", "uprobe":
		return p, rest, nil
	}
	s, err := attach.ParseSiteOf(text, kinds...)
	switch s.Kind {
	case attach.Program:
		return "uprobe", text, err
	case attach.Line:
		return "line", text, err
	case attach.Inline:
		return "inline", rest, err
	}
	return "kprobe", text, err
}

// filtered has a script count only what fits a condition; "": all.
func filtered(text, filter string) string {
	if filter == "" {
		return strings.NewReplacer("/$filter/ ", "", "$filter && ", "", "$filter", "1").Replace(text)
	}
	return strings.ReplaceAll(text, "$filter", "("+filter+")")
}
