"use strict";
// replay steps through fragments that stand beside each other, of which each is an element of class rp. keys is
// what hears the keys: arrows, Home, End, the number of a frame, and h. f is the frame to begin with, h whether
// frames are to be predicted. changed hears of each step with {f, h}. It returns {go, predict, end}.
function replay(fragments, {keys = document, f = 1, h = false, changed = () => {}} = {}) {
  const all = fragments.map(at => ({
    frames: [...at.querySelectorAll(".rp-frame")],
    buttons: [...at.querySelectorAll(".rp-strip button")],
    lanes: [...at.querySelectorAll(".rp-lane")],
    status: at.querySelector(".rp-status"),
  }));
  const most = Math.max(...all.map(r => r.frames.length));
  const over = new AbortController();
  let n = f, predict = h, asked = false, typed = "", when = 0;

  function show() {
    n = Math.min(Math.max(1, n || 1), most);
    for (const r of all) {
      const now = Math.min(n, r.frames.length) - 1;
      r.frames.forEach((at, i) => {
        at.hidden = i !== now;
        at.querySelector(".rp-seen").hidden = asked && i === now && i === n - 1;
        at.querySelector(".rp-guess").hidden = !at.querySelector(".rp-seen").hidden;
      });
      const mark = (at, i) => i === now ? at.setAttribute("aria-current", "step") : at.removeAttribute("aria-current");
      r.buttons.forEach(mark);
      r.lanes.forEach((at, i) => { mark(at, i); at.classList.toggle("rp-later", i > now); });
      const b = r.buttons[now], list = b.closest("ol");
      list.scrollTop = b.offsetTop - list.offsetTop - list.clientHeight / 2; // the page stays where it is
      r.status.textContent = `${now + 1} of ${r.frames.length}: ${r.frames[now].querySelector(".rp-what").textContent}`;
    }
    changed({f: n, h: predict});
  }
  function go(to) { n = to; asked = false; show(); }
  function next() {
    if (asked || n >= most) return go(n);
    n++;
    asked = predict;
    show();
  }
  function number(digit) {
    const now = performance.now(), both = Number(typed + digit);
    typed = now - when < 1000 && both <= most ? typed + digit : digit;
    when = now;
    if (Number(typed) > 0) go(Number(typed));
  }
  function toggle() { predict = !predict; asked = false; show(); }

  const does = {ArrowRight: next, ArrowLeft: () => go(n - 1), Home: () => go(1), End: () => go(most), h: toggle};
  keys.addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest?.("input, select, textarea")) return;
    const act = /^[0-9]$/.test(e.key) ? () => number(e.key) : does[e.key];
    if (act) { e.preventDefault(); act(); }
  }, {signal: over.signal});
  for (const r of all) r.buttons.forEach((b, i) => b.addEventListener("click", () => go(i + 1), {signal: over.signal}));
  for (const at of fragments) at.classList.add("rp-live");
  show();
  return {go, next, predict: toggle, end: () => over.abort()};
}
