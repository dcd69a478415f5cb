// flame has a flame graph answer: a click zooms, a search marks frames and says their share. It keeps both in state,
// and a later picture that gets the same state begins with them.
function flame(svg, state) {
	"use strict";
	state = state || {};
	const frames = Array.from(svg.querySelectorAll(".frame"), function (g) {
		return {g: g, x: Number(g.dataset.x), w: Number(g.dataset.w), name: g.dataset.name,
			rect: g.querySelector("rect"), text: g.querySelector("text"), says: g.querySelector("title").textContent};
	});
	const wide = svg.viewBox.baseVal.width, letter = 7.3, tiny = 1e-9;
	const details = svg.querySelector(".details"), matched = svg.querySelector(".matched");

	// fit shows as much of a name as there is room for.
	function fit(name, room) {
		const letters = Array.from(name), n = Math.floor((room - 6) / letter);
		return n >= letters.length ? name : n < 3 ? "" : letters.slice(0, n - 2).join("") + "..";
	}
	// zoom makes one frame as wide as the picture. What called it stays, whole; what is beside it goes.
	function zoom(to) {
		for (const f of frames) {
			const around = f.x <= to.x + tiny && f.x + f.w >= to.x + to.w - tiny;
			const above = f.x >= to.x - tiny && f.x + f.w <= to.x + to.w + tiny;
			const under = around && f.rect.y.baseVal.value > to.rect.y.baseVal.value;
			f.g.classList.toggle("parent", under);
			f.g.classList.toggle("hidden", !around && !above);
			const x = under ? 0 : (f.x - to.x) / to.w * wide, w = under ? wide : f.w / to.w * wide;
			f.rect.setAttribute("x", x);
			f.rect.setAttribute("width", w);
			f.text.setAttribute("x", x + 3);
			f.text.textContent = fit(f.name, w);
		}
	}
	// mark marks the frames whose names have a text, and says which share of the whole they are: of frames within
	// each other, once.
	function mark(text) {
		const found = frames.filter(function (f) {
			const has = text !== "" && f.name.toLowerCase().includes(text.toLowerCase());
			f.g.classList.toggle("found", has);
			return has;
		}).sort(function (a, b) { return a.x - b.x || b.w - a.w; });
		let end = 0, sum = 0;
		for (const f of found) {
			if (f.x >= end - tiny) {
				sum += f.w;
				end = f.x + f.w;
			}
		}
		matched.textContent = text === "" ? "" : text + ": " + (100 * sum).toFixed(2) + " %";
	}
	function search() {
		const text = prompt("Mark frames whose names contain (nothing: none)", state.search || "");
		if (text !== null) mark(state.search = text);
	}
	// path is the names of the frame and of those that called it, by which it is found in a later picture.
	function path(f) {
		return JSON.stringify(frames.filter(function (c) {
			return c.x <= f.x + tiny && c.x + c.w >= f.x + f.w - tiny && c.rect.y.baseVal.value >= f.rect.y.baseVal.value;
		}).map(function (c) { return c.name; }));
	}
	function show(f) {
		state.zoom = path(f);
		zoom(f);
	}
	// does has an element do something by a click, by Enter and by the space bar.
	function does(element, what) {
		element.addEventListener("click", what);
		element.addEventListener("keydown", function (e) {
			if (e.key === "Enter" || e.key === " ") {
				e.preventDefault();
				what();
			}
		});
	}
	for (const f of frames) {
		f.g.setAttribute("tabindex", "0");
		does(f.g, function () { show(f); });
		for (const when of ["mouseenter", "focus"]) {
			f.g.addEventListener(when, function () { details.textContent = f.says; });
		}
	}
	if (frames.length > 0) {
		does(svg.querySelector(".reset"), function () { show(frames[0]); });
		does(svg.querySelector(".search"), search);
		const before = state.zoom && frames.find(function (f) { return path(f) === state.zoom; });
		if (before) zoom(before);
		mark(state.search || "");
	}
}
