// Package book has the chapters of the course's book, and the tests that hold them.
//
//	go test ./course/book                     every block is what it says, every output is what comes out
//	go test ./course/book -run Outputs -only 03   the outputs of chapter 3, of its exercises' solutions, and of deck 3
//	go test ./course/book -run Outputs -update    write what comes out into the pages
//	make book                                 the pages for readers, in build/book
//
// A chapter is a page NN-name.md. Its sections are those of sectionsOf, in that order, with sections of its own
// between the files and the experiment. Package sonde/course/blocks says what kinds of blocks there are. Appendices are
// pages, too: A is course/porting.md, B to E are here.
// The decks of slides in course/slides are pages, too: their blocks and figures are held by the same tests, and what
// they quote of a chapter has to be there. An update writes their quotations, too.
// Modules that chapters load are in modules/. The solutions of its exercises are a page with the same name in course/solutions/book.
//
// # Decisions
//
// Numbers in the book's text are checked, not filled in. A mark such as "the value of that block" in the text would
// make chapters unreadable where most people read Markdown. Instead, go test ./course/book looks for each number of
// two digits and more of the text in the blocks of its chapter. A block that changes makes the sentence fail that says
// otherwise.
//
// Solutions of exercises are pages of the same kind. Predictions, reading and changes all end in something that is
// shown: an output, or lines of a file. So one test checks chapters and solutions, and an exercise without an answer
// that can fail is refused.
//
// Chapters name what to read; no list names every file. A list of all source files, most of them left out with a
// reason, would change with each new file, and no student would read it. docs/tree.md says where everything is.
//
// The program that makes the pages is a module of its own. Only it needs a parser of Markdown. It does not know the
// rules of blocks; the tests in course/book have checked them.
package book
