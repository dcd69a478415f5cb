package screen

// Scroll looks half a screen back, or forward again. What is written next shows the present.
func (s *Screen) Scroll(back bool) {
	var here byte
	if !s.on || !s.begin(&here) {
		return
	}
	by := max(s.rows/2, 1)
	if !back {
		by = -by
	}
	s.look(s.back + by)
	if s.back == 0 {
		s.cursor()
	}
	s.drawer.Store(0)
	if s.queue.waiting() {
		s.draw()
	}
}
