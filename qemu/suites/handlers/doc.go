// Package handlers tests what becomes of handlers that break the rules: each
// misdeed, in each kind of handler, must end with the handler abandoned, its
// probe disabled and the reason logged once, and leave everything else working.
// And faults: those that a fault-handler fixes, and those that are the code's own.
package handlers
