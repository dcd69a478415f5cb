// Package control tests what is said about probes and done to them from
// outside: the control files, registration in groups, disabling and enabling,
// and modules that forget their probes.
package control
