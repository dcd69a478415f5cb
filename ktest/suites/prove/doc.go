// Package prove is the part of the proof run that happens inside the machine
// (docs/proof.md; package ktest/prove boots the machines and keeps the results). It
// implements the command prove of images with tests:
//
//	prove count                how many functions may be probed, and how many may not
//	prove index NAME           the function's number, for FROM (inclusive) and TO (exclusive)
//	prove functions FROM TO    entry and return probe on each, one at a time
//	prove together             entry and return probe on all of them at once
//	prove boundaries FROM TO   a probe on each of their instructions, in each way;
//	                           with "single" after it, one function at a time
//	prove wide FROM TO         a breakpoint on each of their instructions at once, while
//	                           work is done that reaches as much as possible, once
//	prove blacklist FROM TO    a probe on functions that may not be probed
//	prove map                  what each instruction of the kernel is to a probe
//
// Each runs the same work over and over (workload_tamago.go), which must give the same
// result each time. The wide work (wide_tamago.go) is done once without probes and once with
// them. The command prints what it finds, a line each:
//
//	at NEXT NAME       what is probed now, and where to continue if nothing follows
//	count NAME N       a number for the table
//	finding TEXT       something is wrong
//	note TEXT          what else the page is to say
//	sum HEX            the result of the work
//	t ...              a transition: see transition_tamago.go
//	f ..., m ...       the map: see map_tamago.go
//	lives ...          see blacklist_tamago.go
//	end                everything is done
package prove
