// Package prove is the part of the proof run that happens inside the machine
// (docs/proof.md; qemu/prove is the part outside, which boots machines and keeps the
// results). The command prove of images with tests leads here:
//
//	prove count                how many functions may be probed, and how many may not
//	prove index NAME           which of them it is; FROM is the first that is meant, TO is not
//	prove functions FROM TO    entry and return probe on each, one at a time
//	prove together             entry and return probe on all of them at once
//	prove boundaries FROM TO   a probe on each of their instructions, in each way;
//	                           with "single" behind it, one function at a time
//	prove blacklist FROM TO    a probe on functions that may not be probed
//	prove map                  what each instruction of the kernel is to a probe
//
// Each runs the same work over and over (workload_tamago.go), and its result must be
// the same each time. What is found is printed, a line each:
//
//	at NEXT NAME       what is probed now, and where to go on if nothing more is heard
//	count NAME N       a number for the table
//	finding TEXT       something is wrong
//	sum HEX            the result of the work
//	t ...              a transition: see transition_tamago.go
//	f ..., m ...       the map: see map_tamago.go
//	lives ...          see blacklist_tamago.go
//	end                all is done
package prove
