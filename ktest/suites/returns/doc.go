// Package returns tests return probes: what a return handler is given, what happens to
// calls whose frame moves or goes away, or that never end, and that the probed code, including the
// runtime, does not notice.
package returns
