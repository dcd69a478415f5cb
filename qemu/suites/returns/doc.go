// Package returns tests return probes: what a return handler is told, what
// becomes of a call whose frame moves, dies or never ends, and that the code
// that is probed, the runtime included, does not notice.
package returns
