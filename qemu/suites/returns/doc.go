// Package returns tests return probes: what a return handler is given, what happens to
// calls whose frame moves, dies or never ends, and that the probed code, including the
// runtime, does not notice.
package returns
