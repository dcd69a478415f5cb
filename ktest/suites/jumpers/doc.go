// Package jumpers tests jprobes: that the handler sees the function's
// arguments, and that nothing it does to them reaches the function.
package jumpers
