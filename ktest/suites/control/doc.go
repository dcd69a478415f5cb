// Package control tests the control files of probes, registering in groups, disabling and
// enabling, and modules that leave probes behind.
package control
