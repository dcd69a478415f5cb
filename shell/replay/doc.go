// Package replay shows what a camera has recorded of one hit (package glass): as text, as a slide, and as
// JSON, whose schema is schema.json.
//
// A Take is the frames with what is known of the place. Recording resolves all names and makes the
// sentences; text and JSON are printed from that, so that both say the same. This is tested on the
// host. Only record_tamago.go knows where the facts come from.
//
// The text is plain ASCII, 80 columns wide. Words in JSON are strings, because browsers have 53 bits.
package replay
