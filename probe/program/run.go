package program

import (
	"sonde/arch/amd64"
	"sonde/probe/attach"
)

// Run runs a program once, without a hit: with a record, if it takes one, or with registers that are all 0. It
// returns what it returns. That is no hit in the program's account. Who is the command that runs it, for helpers;
// a process is itself.
func (p *Prog) Run(who string, record []uint64) uint32 {
	link := &attach.Link{Options: attach.Options{Owner: who}}
	return uint32(call(&p.soft, &attach.Hit{
		Regs:  new(amd64.Regs),
		Place: &attach.Place{Link: link, Site: &attach.Site{Kind: attach.Call}}, MayBlock: true, Data: record}))
}

// Now is the time since boot in ns, which programs get.
func Now() int64 { return now() }
