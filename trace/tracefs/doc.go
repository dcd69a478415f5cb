// Package tracefs is Linux's tracing files, in /sys/kernel/tracing and /sys/kernel/debug/tracing: events that lines
// of kprobe_events make, filters, and what was traced.
//
//	line of kprobe_events ── probe.go, fetch.go ──▶ event ── code.go ──▶ program of eBPF ── ring ──▶ trace, trace_pipe
//	tracepoint, with the fields of its format ──────▶          ▲ filter.go, trigger.go
//
// # An event that is enabled is a program
//
// Nothing here is called at a hit. When an event is enabled, a program is made that writes its record where its
// format says, tests the filter, does what its triggers ask for, and puts the record into the ring (code.go). It is
// verified, compiled and attached as any other. When an event's filter changes, the new program is attached before the
// old one is detached. A word of a map says which of them runs, so that each hit is recorded once.
//
// A goroutine takes the records out of the ring while an event is enabled (buffer.go). It keeps the newest, as far as
// buffer_size_kb allows; what the ring had no room for is counted. The hits of this goroutine itself are left out.
//
// An instance (instances/NAME) has maps, records and enabled events of its own. Without an enabled event there are no
// maps, no programs and no goroutine.
//
// Rejected: writing records as a handler in Go. It would be a second way for what programs do, without the verifier's
// bound on the time of a hit.
//
// Source: Linux, Documentation/trace/{ftrace,events,kprobetrace,uprobetracer,histogram}.rst, for the files, what is
// written to them, and what they say.
package tracefs
