package attach

import (
	"fmt"
	"io"

	"sonde/kernel/module"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/probe/ledger"
)

// A Face is what a kind of probes has beside links: the probes that the functions of the documents
// register (kprobes.RegisterKprobe and its like).
type Face struct {
	Name   string         // of the folder with the control files
	Head   string         // what Row.Key has, as the heading of a table
	Counts ledger.Columns // what the table has of each ledger
	Last   string         // what Row.Place has
	// Rows returns the registered probes, those of links among them.
	Rows func() []Row
	// Forget unregisters the probes of a module, but for those of links, and returns what they were.
	// When it returns, none of their handlers is running.
	Forget func(owner string) (forgotten []string)
	// Enabled and SetEnabled are the switch for all probes of the kind; nil: there is none.
	Enabled    func() bool
	SetEnabled func(on bool)
}

// A Row is a probe.
type Row struct {
	Line   string // in the file list; "": the kind has only the table, under that name
	Key    string // before the counts
	Ledger ledger.Ledger
	Place  string // after them
}

// faces are those of all kinds.
var faces []*Face

// Show adds the face of a kind.
//
// Context: package initialization.
func Show(f *Face) { faces = append(faces, f) }

// mount makes the control files under dir.
func (f *Face) mount(tree *vfs.FS, dir string) error {
	files := map[string]vfs.Node{"list": ctl.Print(f.writeTable)}
	if f.Enabled != nil {
		files = map[string]vfs.Node{
			"list":    ctl.Print(f.writeList),
			"stats":   ctl.Print(f.writeTable),
			"enabled": ctl.Switch(f.Enabled, func(on bool) error { f.SetEnabled(on); return nil }),
		}
	}
	return tree.BindAll(dir+"/"+f.Name, files)
}

// writeList prints a line per probe.
func (f *Face) writeList(w io.Writer) {
	for _, r := range f.Rows() {
		ctl.Line(w, "%s", r.Line)
	}
}

// writeTable prints every probe's ledger.
func (f *Face) writeTable(w io.Writer) {
	fmt.Fprintf(w, "%s %s  %s\n", f.Head, f.Counts.Head(), f.Last)
	for _, r := range f.Rows() {
		ctl.Line(w, "%s %s  %s", r.Key, f.Counts.Row(r.Ledger), r.Place)
	}
}

func init() { module.OnUnload(forgetModule) }

// forgetModule is a function for module.OnUnload.
func forgetModule(name string) (forgotten []string) {
	for _, l := range Links() {
		if l.Options.Owner == name {
			forgotten = append(forgotten, fmt.Sprintf("a link of %d probes, at %s", len(l.Places()), l.Places()[0].Where))
			l.Close()
		}
	}
	for _, f := range faces {
		forgotten = append(forgotten, f.Forget(name)...)
	}
	return forgotten
}
