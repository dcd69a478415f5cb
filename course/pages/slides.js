"use strict";

const slides = [...document.querySelectorAll("section")];
const footer = document.querySelector("footer");
let at = 0;          // the slide that is shown
let began = Date.now();
let notes = null;    // the speaker's window

// What a command prints, and answers, come with a key.
for (const s of slides) {
  const later = s.matches(".live") ? ".slide figure.output, .slide blockquote" : ".slide blockquote";
  for (const e of s.querySelectorAll(later)) e.classList.add("later");
}

// hidden are the parts of the slide that are still to come.
function hidden() {
  return [...slides[at].querySelectorAll(".later:not(.shown)")];
}

function show(n, whole) {
  at = Math.max(0, Math.min(slides.length - 1, n));
  slides.forEach((s, i) => s.classList.toggle("shown", i === at));
  for (const e of slides[at].querySelectorAll(".later")) e.classList.toggle("shown", whole);
  history.replaceState(null, "", "#" + (at + 1));
  footer.textContent = (at + 1) + " / " + slides.length;
  tell();
}

function forward() {
  const parts = hidden();
  if (parts.length === 0) return at + 1 < slides.length && show(at + 1, false);
  parts[0].classList.add("shown");
  tell();
}

function back() {
  if (at > 0) show(at - 1, true);
}

function clock() {
  const s = Math.floor((Date.now() - began) / 1000);
  const planned = document.body.dataset.minutes;
  return Math.floor(s / 60) + ":" + String(s % 60).padStart(2, "0") + (planned ? " of " + planned : "");
}

// heading is what a slide is called.
function heading(s) {
  const h = s && s.querySelector("h1, h2");
  return h ? h.textContent : "the end";
}

// tell writes the notes into the speaker's window, if there is one.
function tell() {
  if (!notes || notes.closed) return;
  const d = notes.document;
  d.getElementById("at").textContent = (at + 1) + " / " + slides.length + "  " + heading(slides[at]);
  d.getElementById("next").textContent = hidden().length ? "next: what is hidden (" + hidden().length + ")" : "next: " + heading(slides[at + 1]);
  d.getElementById("notes").innerHTML = slides[at].querySelector("aside").innerHTML;
}

function openNotes() {
  notes = window.open("", "notes", "width=720,height=560");
  if (!notes) return; // the browser allows no second window
  notes.document.body.innerHTML = '<p id="clock" style="font-size:2rem;margin:0"></p><p id="at"></p><div id="notes" style="font-size:1.3rem"></div><p id="next"></p>';
  notes.document.title = document.title + ": notes";
  notes.document.body.style.fontFamily = "system-ui, sans-serif";
  notes.onkeydown = press;
  setInterval(() => { if (!notes.closed) notes.document.getElementById("clock").textContent = clock(); }, 500);
  tell();
}

const keys = {
  ArrowRight: forward, ArrowDown: forward, PageDown: forward, " ": forward,
  ArrowLeft: back, ArrowUp: back, PageUp: back,
  Home: () => show(0, false), End: () => show(slides.length - 1, false),
  n: openNotes,
  t: () => { began = Date.now(); },
  h: () => document.documentElement.classList.toggle("handout"),
  f: () => document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen(),
  "?": () => { const d = document.querySelector("dialog"); d.open ? d.close() : d.show(); },
};

function press(e) {
  if (e.ctrlKey || e.altKey || e.metaKey || !keys[e.key]) return;
  e.preventDefault();
  keys[e.key]();
}

addEventListener("keydown", press);
addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1 || 0, false));
show(Number(location.hash.slice(1)) - 1 || 0, false);
